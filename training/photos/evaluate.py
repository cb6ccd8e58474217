"""Report what the shipped weights do on the development split, through the vectors that `sightline embed` writes.

Run: python training/photos/evaluate.py --data ../shared/data/flickr8k [--labelled FOLDER]
`--labelled` is a folder of photographs whose names end in their ImageNet class, such as `cat_281.jpg`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from features import Split, read_split
from numpy.typing import NDArray

from sightline.corpus.pixels import MAX_PIXELS
from sightline.models.embedders.pixels import load_pixels
from sightline.models.photos.embedder import Photos
from sightline.models.photos.joint_vectors import class_names, softmax

SURE = 0.5


def recalls(texts: NDArray[np.float32], pictures: NDArray[np.float32]) -> str:
    """Text → picture, with the standard error of a proportion over the pictures."""
    similarity = texts @ pictures.T
    owner = np.repeat(np.arange(len(pictures)), len(texts) // len(pictures))
    rank = (similarity > similarity[np.arange(len(texts)), owner][:, None]).sum(axis=1)
    found = {k: rank < k for k in (1, 5, 10)}
    errors = {k: hits.reshape(len(pictures), -1).mean(axis=1).std() / len(pictures) ** 0.5 for k, hits in found.items()}
    return "  ".join(f"R@{k} {hits.mean():.4f} (±{errors[k]:.4f})" for k, hits in found.items())


def name_forms() -> dict[str, list[str]]:
    """Ways in which people write the name of a class."""
    first = [names[0] for names in class_names()]
    return {
        "name": first,
        "all names": [", ".join(names) for names in class_names()],
        "a name": [f"a {name}" for name in first],
        "a photo of a name": [f"a photo of a {name}" for name in first],
        "names": [f"{name}s" for name in first],
    }


def report_naming(embedder: Photos, splits: Sequence[Split]) -> None:
    vectors = np.concatenate([split.vectors for split in splits])
    logits = np.concatenate([split.logits for split in splits])
    top, sure = logits.argmax(axis=1), softmax(logits).max(axis=1) > SURE
    print(f"naming: the classifier's first choice of 1,000 ({sure.sum():,} pictures where it is over {SURE} sure; all)")
    for form, texts in name_forms().items():
        same = (vectors @ embedder.texts(texts).T).argmax(axis=1) == top
        print(f"  {form:20} {same[sure].mean():.3f}  {same.mean():.3f}")


def report_labelled(embedder: Photos, folder: Path) -> None:
    paths = sorted(folder.glob("*_*.jpg"))
    labels = np.array([int(path.stem.rpartition("_")[2]) for path in paths])
    vectors = [embedder.pictures([load_pixels(path.read_bytes(), embedder.side, MAX_PIXELS)])[0] for path in paths]
    for form, texts in name_forms().items():
        right = (np.stack(vectors) @ embedder.texts(texts).T).argmax(axis=1) == labels
        print(f"  {form:20} {right.sum()} of {len(right)} labelled photographs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--labelled", type=Path)
    options = parser.parse_args()
    embedder = Photos()
    dev = read_split(options.data, "dev")
    texts = embedder.texts([caption for captions in dev.captions for caption in captions])
    print(f"{embedder.revision}: {recalls(texts, dev.vectors)}")
    report_naming(embedder, [dev, read_split(options.data, "train")])
    if options.labelled:
        report_labelled(embedder, options.labelled)


if __name__ == "__main__":
    main()
