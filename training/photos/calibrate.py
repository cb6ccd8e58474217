"""Fit the curves that turn similarities into chances, and report how honest they are.

Fitted on the last 400 photographs of the development split, reported on the first 600, which benchmarks evaluate with.
Not on the training split: the head has seen its captions, and tells them apart better than any others.

Run: python training/photos/calibrate.py --data ../shared/data/flickr8k
     --out src/sightline/models/photos/calibration.npz

Words: a word fits a picture when at least two of its five captions use it (or a form of it), and does not when none
does; with one in five, nobody knows, and the pair is left out. Flags: the same pairs, weighted so that of each word as
many fit as do not. Facets: pictures whose captions name one value and no other, and pictures whose captions name none,
weighted so that "none" is as frequent as a value. Sentences: a caption fits its own picture; of other pictures, half
are drawn by chance and half from the fifty whose captions are nearest in meaning, as many as fit.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from concepts import CONCEPTS, FACETS
from features import Split, read_split
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from sightline.models.photos.annotator import FACET_SURE, Calibration, facet_shares
from sightline.models.photos.appearance import measure_appearance
from sightline.models.photos.embedder import Photos

EVALUATED = 600
"""The first so many of the development split are evaluated with, and nothing is fitted on them."""
DIRECTIONS = 64
KNOTS = 24
SMALLEST = 40
"""Pairs in the last group of a curve."""
FACET_KNOTS, FACET_SMALLEST = 16, 60
BINS = 10
LEAST_PICTURES = 8
"""Words that fit fewer pictures say nothing about flags."""
BLURS = (1.0, 1.5, 2.0)
NO_CURVE = np.array([[0.0, 1.0], [0.0, 1.0]], np.float32)


class Pairs(NamedTuple):
    """How strongly a text points at a picture, whether rightly, with what weight; is the picture for fitting?"""

    x: NDArray[np.float64]
    fits: NDArray[np.bool_]
    weight: NDArray[np.float64]
    fitted: NDArray[np.bool_]

    def part(self, chosen: NDArray[np.bool_]) -> Pairs:
        return Pairs(*(column[chosen] for column in self))


def joined(parts: list[Pairs]) -> Pairs:
    return Pairs(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def for_fitting(pictures: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which of these pictures curves are fitted on."""
    return pictures >= EVALUATED


def statistics(vectors: NDArray[np.float32]) -> Calibration:
    """Mean and main directions of the training pictures, rounded as they are shipped; the curves come later."""
    mean = vectors.mean(axis=0)
    _, lengths, axes = np.linalg.svd(vectors - mean, full_matrices=False)
    spread = lengths / len(vectors) ** 0.5
    directions = (axes[:DIRECTIONS] * spread[:DIRECTIONS, None]).astype(np.float16).astype(np.float32)
    rest = float((spread[DIRECTIONS:] ** 2).sum() / vectors.shape[1])
    mean = mean.astype(np.float16).astype(np.float32)
    return Calibration(mean, directions, rest, 0.5, NO_CURVE, NO_CURVE, NO_CURVE, NO_CURVE)


def fit_curve(pairs: Pairs, knots: int = KNOTS, smallest: int = SMALLEST) -> NDArray[np.float32]:
    """A rising curve through the shares that fit, of groups of pairs (more, smaller groups at the upper end)."""
    order = np.argsort(pairs.x, kind="stable")
    ends = np.unique([*(len(order) * (1 - np.geomspace(1, smallest / len(order), knots))).astype(int), len(order)])
    # Neighbours that fall are averaged until none does.
    pooled: list[tuple[float, float, float]] = []
    for start, end in pairwise(ends):
        group = order[start:end]
        weight = pairs.weight[group]
        means = (float(np.average(values[group], weights=weight)) for values in (pairs.x, pairs.fits))
        pooled.append((*means, float(weight.sum())))
        while len(pooled) > 1 and pooled[-2][1] >= pooled[-1][1]:
            (x1, y1, n1), (x2, y2, n2) = pooled[-2:]
            pooled[-2:] = [((x1 * n1 + x2 * n2) / (n1 + n2), (y1 * n1 + y2 * n2) / (n1 + n2), n1 + n2)]
    return np.array([[p[0] for p in pooled], [p[1] for p in pooled]], np.float32)


def report(what: str, pairs: Pairs) -> None:
    """Look at the pictures that are evaluated with: what was promised and what came true."""
    other = pairs.part(~pairs.fitted)
    print(f"{what}: {len(pairs.x):,} pairs, {np.average(pairs.fits, weights=pairs.weight):.3f} fit; ", end="")
    report_promises(np.interp(other.x, *fit_curve(pairs.part(pairs.fitted))), other)
    print(f"  ranked right (AUC) {auc(pairs.x, pairs.fits):.3f}")


def report_promises(promised: NDArray[np.float64], pairs: Pairs) -> None:
    print("on what was not fitted on:")
    error = 0.0
    for low in np.arange(BINS) / BINS:
        inside = (promised >= low) & (promised < low + 1 / BINS)
        if inside.any():
            weight = pairs.weight[inside]
            said = np.average(promised[inside], weights=weight)
            was = np.average(pairs.fits[inside], weights=weight)
            error += weight.sum() / pairs.weight.sum() * abs(said - was)
            print(f"  promised {said:.2f}  came true {was:.2f}  n {inside.sum():,}")
    print(f"  mean gap {error:.4f}")


def auc(x: NDArray[np.float64], y: NDArray[np.bool_]) -> float:
    """How often a pair that fits is above one that does not."""
    rank = np.empty(len(x))
    rank[np.argsort(x)] = np.arange(len(x))
    fits = int(y.sum())
    return float((rank[y].mean() - (fits - 1) / 2) / (len(y) - fits))


def uses_of(split: Split) -> NDArray[np.int_]:
    """How many of a picture's captions use each word."""
    uses = np.zeros((len(split.captions), len(CONCEPTS)), int)
    for row, captions in enumerate(split.captions):
        words = [set(re.findall("[a-z]+", caption.lower())) for caption in captions]
        uses[row] = [sum(bool(set(forms.split()) & used) for used in words) for forms in CONCEPTS.values()]
    return uses


def word_pairs(uses: NDArray[np.int_], surprise: NDArray[np.float64]) -> Pairs:
    clear = uses != 1
    return Pairs(surprise[clear], (uses >= 2)[clear], np.ones(clear.sum()), for_fitting(np.nonzero(clear)[0]))


def flag_pairs(uses: NDArray[np.int_], surprise: NDArray[np.float64]) -> Pairs:
    """The pairs of each word that fits enough pictures; half of their weight is on those that fit."""
    parts = []
    for column in np.flatnonzero((uses >= 2).sum(axis=0) >= LEAST_PICTURES):
        clear = np.flatnonzero(uses[:, column] != 1)
        fits = uses[clear, column] >= 2
        weight = np.where(fits, 0.5 / fits.sum(), 0.5 / (~fits).sum())
        parts.append(Pairs(surprise[clear, column], fits, weight, for_fitting(clear)))
    return joined(parts)


def facet_pairs(uses: NDArray[np.int_], evidence: NDArray[np.float64]) -> dict[str, Pairs]:
    """For each facet, the share of its likeliest value in each picture, and whether the captions say the same."""
    names, found = list(CONCEPTS), {}
    for facet, values in FACETS.items():
        columns = [names.index(value) for value in values]
        said = uses[:, columns]
        none = (said == 0).all(axis=1)
        clear = ((said >= 2).sum(axis=1) == 1) & ((said == 1).sum(axis=1) == 0)
        pictures = np.flatnonzero(clear | none)
        shares = facet_shares(evidence[np.ix_(pictures, columns)])
        right = clear[pictures] & (shares.argmax(axis=1) == said[pictures].argmax(axis=1))
        weight = np.where(none[pictures], clear.sum() / len(values) / none.sum(), 1.0)
        found[facet] = Pairs(shares.max(axis=1), right, weight / weight.sum(), for_fitting(pictures))
    return found


def report_facets(facets: dict[str, Pairs]) -> None:
    """Each facet by a curve that was fitted on the other facets, and on other pictures."""
    promises, looked_at = [], []
    for facet, pairs in facets.items():
        others = joined([found for name, found in facets.items() if name != facet])
        curve = fit_curve(others.part(others.fitted), FACET_KNOTS, FACET_SMALLEST)
        looked_at.append(pairs.part(~pairs.fitted))
        promises.append(np.interp(looked_at[-1].x, *curve))
        report_told(facet, promises[-1], looked_at[-1])
    print(f"facets: {len(facets)}; ", end="")
    report_promises(np.concatenate(promises), joined(looked_at))


def report_told(facet: str, promised: NDArray[np.float64], pairs: Pairs) -> None:
    told = promised >= FACET_SURE
    share, weight = np.average(told, weights=pairs.weight), pairs.weight[told]
    said, was = np.average(promised[told], weights=weight), np.average(pairs.fits[told], weights=weight)
    print(f"facet {facet}: told of {share:.2f}, promised {said:.2f}, came true {was:.2f}")


def sentence_pairs(split: Split, embedder: Photos, known: Calibration) -> Pairs:
    rng = np.random.default_rng(0)
    texts = embedder.texts([captions[0] for captions in split.captions])
    meaning = embedder.texts([" ".join(captions[1:]) for captions in split.captions])
    near = np.argsort(-(meaning @ meaning.T), axis=1)[:, 1:51]
    count = len(texts)
    chance = (np.arange(count) + rng.integers(1, count, count)) % count
    hard = near[np.arange(count), rng.integers(0, near.shape[1], count)]
    other = np.where(np.arange(count) % 2 == 0, chance, hard)
    surprise = known.surprise(texts, split.vectors).astype(np.float64)
    pictures, sentences = np.concatenate([np.arange(count), other]), np.tile(np.arange(count), 2)
    own = np.arange(2 * count) < count
    for name, rows in (("by chance", np.arange(0, count, 2)), ("near in meaning", np.arange(1, count, 2))):
        x = np.concatenate([surprise[rows, rows], surprise[other[rows], rows]])
        print(f"sentence against a picture {name}: AUC {auc(x, np.arange(len(x)) < len(rows)):.3f}")
    return Pairs(surprise[pictures, sentences], own, np.ones(2 * count), for_fitting(sentences))


def report_sharpness(folder: Path) -> None:
    """Detail of photographs as they are, and blurred by that many pixels of 292."""
    for blur in (0.0, *BLURS):
        detail = [measure_appearance(_blurred(path, blur)).detail for path in sorted(folder.glob("*.jpg"))]
        print(
            f"detail at blur {blur}: " + "  ".join(f"{value:.3f}" for value in np.quantile(detail, (0.05, 0.5, 0.95)))
        )


def _blurred(path: Path, blur: float) -> NDArray[np.uint8]:
    image = Image.open(path).convert("RGB")
    scale = 292 / min(image.size)
    small = image.resize((round(image.width * scale), round(image.height * scale)), Image.Resampling.BICUBIC)
    return np.asarray(small.filter(ImageFilter.GaussianBlur(blur)) if blur else small)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    embedder = Photos()
    known = statistics(read_split(options.data, "train").vectors)
    dev = read_split(options.data, "dev")
    uses, words = uses_of(dev), embedder.texts(list(CONCEPTS))
    surprise = known.surprise(words, dev.vectors).astype(np.float64)
    pairs = {
        "word": word_pairs(uses, surprise),
        "flag": flag_pairs(uses, surprise),
        "sentence": sentence_pairs(dev, embedder, known),
    }
    curves = {}
    for name, found in pairs.items():
        report(name, found)
        curves[f"{name}_curve"] = fit_curve(found.part(found.fitted))
    seen = pairs["word"].part(pairs["word"].fitted)
    known = replace(known, base=float(seen.fits.mean()), word_curve=curves["word_curve"])
    facets = facet_pairs(uses, known.evidence(words, dev.vectors))
    report_facets(facets)
    every = joined(list(facets.values()))
    curves["facet_curve"] = fit_curve(every.part(every.fitted), FACET_KNOTS, FACET_SMALLEST)
    report_sharpness(options.data / "sample")
    if options.out:
        arrays = {"mean": known.mean.astype(np.float16), "directions": known.directions.astype(np.float16)}
        arrays |= curves | {"rest": known.rest, "base": known.base, "revision": embedder.revision}
        np.savez_compressed(options.out, **arrays)
        print(f"{options.out}: {options.out.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
