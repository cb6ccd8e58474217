"""Fit the words that `photos` knows by heart: one logistic regression a word, on features of the training photographs.

Run: python training/photos/words.py --data ../shared/data/flickr8k --out src/sightline/models/photos/words.npz

A word fits a picture when at least two of its five captions use it (or a form of it), and does not when none does;
with one in five, nobody knows, and the picture is left out. Needs scikit-learn. A word is kept when its chances hold on
folds of the training split that it was not fitted on. Nothing is fitted on the development split; the report is on it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from calibrate import auc, uses_of
from concepts import CONCEPTS
from features import read_split
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

STRENGTH = 0.003
"""Inverse of the penalty; 0.001 and 0.01 were no better on folds of the training split."""
LEAST_PICTURES = 40
LEAST_RIGHT = 0.6
"""Of the pictures that a word is said of (chance at least 0.5), so many must be right."""


def pooled_features(data: Path, split: str) -> NDArray[np.float32]:
    """1,280 features a picture."""
    features: NDArray[np.float32] = np.load(data / f"{split}.npz")["efficientnet_lite2_pooled"].astype(np.float32)
    return features


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    features, held = pooled_features(options.data, "train"), pooled_features(options.data, "dev")
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-6
    features, held = (features - mean) / spread, (held - mean) / spread
    uses, held_uses = (uses_of(read_split(options.data, split)) for split in ("train", "dev"))
    kept: list[tuple[str, NDArray[np.float64], float]] = []
    for column, word in enumerate(CONCEPTS):
        clear = uses[:, column] != 1
        fits = uses[clear, column] >= 2
        if fits.sum() < LEAST_PICTURES:
            print(f"{word:14} left out: {fits.sum()} pictures")
            continue
        model = LogisticRegression(C=STRENGTH, max_iter=500)
        crossed = cross_val_predict(model, features[clear], fits, cv=5, method="predict_proba")[:, 1]
        said = crossed >= 0.5
        right = fits[said].mean() if said.any() else 0.0
        if right < LEAST_RIGHT:
            print(f"{word:14} left out: {right:.2f} of {said.sum()} right")
            continue
        model.fit(features[clear], fits)
        kept.append((word, model.coef_[0], float(model.intercept_[0])))
        report(word, model.predict_proba(held)[:, 1], held_uses[:, column])
    # Features come as they are: their mean and spread are part of the weights.
    weights = np.stack([weight / spread for _, weight, _ in kept]).astype(np.float16)
    bias = np.array([bias for _, _, bias in kept]) - weights.astype(np.float64) @ mean
    if options.out:
        np.savez_compressed(
            options.out, words=np.array([word for word, _, _ in kept]), weights=weights, bias=bias.astype(np.float32)
        )
        print(f"{options.out}: {len(kept)} words, {options.out.stat().st_size / 1e3:.0f} kB")


def report(word: str, chances: NDArray[np.float64], uses: NDArray[np.int_]) -> None:
    """On the development split: how well it ranks, and of what it says, how much is right."""
    clear = uses != 1
    fits, said = uses >= 2, chances >= 0.5
    right = fits[said & clear].mean() if (said & clear).any() else float("nan")
    found = said[fits].mean() if fits.any() else float("nan")
    ranked = auc(chances[clear], fits[clear]) if fits.any() else float("nan")
    told = f"said of {said.sum():4}: {right:.2f} right; finds {found:.2f}"
    print(f"{word:14} {fits.sum():4} pictures  AUC {ranked:.3f}  {told}")


if __name__ == "__main__":
    main()
