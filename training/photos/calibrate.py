"""Fit the curves that turn similarities into chances, on the development split, and report how honest they are.

Run: python training/photos/calibrate.py --data ../shared/data/flickr8k
     --out src/sightline/models/photos/calibration.npz

Words: a word fits a picture when at least two of its five captions use it (or a form of it), and does not when none
does; with one in five, nobody knows, and the pair is left out. Sentences: a caption fits its own picture; of other
pictures, half are drawn by chance and half from the fifty whose captions are nearest in meaning, as many as fit.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from features import Split, read_split
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from sightline.models.photos import Photos
from sightline.models.photos.calibration import Calibration
from sightline.models.photos.looks import look_at

CONCEPTS = {
    "dog": "dog dogs puppy puppies greyhound greyhounds",
    "man": "man men guy",
    "woman": "woman women lady ladies",
    "child": "child children kid kids boy boys girl girls toddler baby",
    "people": "people men women children crowd group kids boys girls players",
    "water": "water ocean lake pool river sea wave waves stream pond swimming",
    "snow": "snow snowy",
    "grass": "grass grassy",
    "beach": "beach sand shore",
    "street": "street road sidewalk",
    "ball": "ball balls football basketball baseball soccer tennis",
    "bicycle": "bicycle bicycles bike bikes biker bicyclist cyclist",
    "motorcycle": "motorcycle motorcycles motorbike",
    "mountain": "mountain mountains cliff",
    "rock": "rock rocks rocky cliff",
    "swimming pool": "pool",
    "skateboard": "skateboard skateboarder skateboarding",
    "climbing": "climbing climbs climber climb",
    "soccer": "soccer",
    "basketball": "basketball",
    "baseball": "baseball",
    "tennis": "tennis",
    "car": "car cars",
    "boat": "boat boats canoe kayak raft",
    "horse": "horse horses",
    "bird": "bird birds duck ducks goose seagull",
    "tree": "tree trees woods forest",
    "building": "building buildings house",
    "city": "city",
    "playground": "playground swing swings slide",
    "guitar": "guitar guitars",
    "bench": "bench",
    "table": "table",
    "hat": "hat hats cap",
    "sunglasses": "sunglasses",
    "helmet": "helmet helmets",
    "surfing": "surfer surfing surfboard surfs",
    "skiing": "skier skiing skis skiers",
    "snowboard": "snowboarder snowboard snowboarding",
    "dancing": "dancing dance dancers",
    "eating": "eating eats food",
    "running": "running runs run",
    "jumping": "jumping jumps jump leaps leaping",
    "swimming": "swimming swims swim",
    "smiling": "smiling smiles smile",
    "night": "night",
    "sunset": "sunset",
    "crowd": "crowd crowded",
    "race": "race racing racer",
    "frisbee": "frisbee",
    "toy": "toy toys",
    "baby": "baby infant toddler",
    "hockey": "hockey",
    "flower": "flower flowers",
    "fountain": "fountain",
    "train": "train subway",
    "umbrella": "umbrella umbrellas",
    "wave": "wave waves",
    "field": "field",
    "mud": "mud muddy",
}
FACETS = {
    "place": ("beach", "snow", "street", "swimming pool", "mountain", "grass", "city", "playground"),
    "sport": ("bicycle", "skateboard", "soccer", "basketball", "baseball", "tennis", "surfing", "skiing", "hockey"),
    "who": ("dog", "man", "woman", "child"),
}
DIRECTIONS = 64
KNOTS = 24
BINS = 10
BLURS = (1.0, 1.5, 2.0)
NO_CURVE = np.array([[0.0, 1.0], [0.0, 1.0]], np.float32)


def statistics(vectors: NDArray[np.float32]) -> Calibration:
    """Mean and main directions of the training pictures, rounded as they are shipped; the curves come later."""
    mean = vectors.mean(axis=0)
    _, lengths, axes = np.linalg.svd(vectors - mean, full_matrices=False)
    spread = lengths / len(vectors) ** 0.5
    directions = (axes[:DIRECTIONS] * spread[:DIRECTIONS, None]).astype(np.float16).astype(np.float32)
    rest = float((spread[DIRECTIONS:] ** 2).sum() / vectors.shape[1])
    return Calibration(mean.astype(np.float16).astype(np.float32), directions, rest, 0.5, NO_CURVE, NO_CURVE)


def fit_curve(x: NDArray[np.float64], y: NDArray[np.bool_]) -> NDArray[np.float32]:
    """A rising curve through the shares of equally many pairs (more, smaller groups at the upper end)."""
    order = np.argsort(x)
    ends = np.unique([*(len(x) * (1 - np.geomspace(1, 40 / len(x), KNOTS))).astype(int), len(x)])
    groups = [order[start:end] for start, end in pairwise(ends)]
    points = [(float(x[group].mean()), float(y[group].mean()), len(group)) for group in groups]
    # Neighbours that fall are averaged until none does.
    pooled: list[tuple[float, float, int]] = []
    for point in points:
        pooled.append(point)
        while len(pooled) > 1 and pooled[-2][1] >= pooled[-1][1]:
            (x1, y1, n1), (x2, y2, n2) = pooled[-2:]
            pooled[-2:] = [((x1 * n1 + x2 * n2) / (n1 + n2), (y1 * n1 + y2 * n2) / (n1 + n2), n1 + n2)]
    return np.array([[p[0] for p in pooled], [p[1] for p in pooled]], np.float32)


def report(what: str, x: NDArray[np.float64], y: NDArray[np.bool_], half: NDArray[np.bool_]) -> None:
    """Fit on one half of the pictures, look at the other: what was promised and what came true."""
    promised = np.interp(x, *fit_curve(x[half], y[half]))[~half]
    came_true = y[~half]
    print(f"{what}: {len(y):,} pairs, {y.mean():.3f} fit; on the half not fitted on:")
    error = 0.0
    for low in np.arange(BINS) / BINS:
        inside = (promised >= low) & (promised < low + 1 / BINS)
        if inside.any():
            said, was = promised[inside].mean(), came_true[inside].mean()
            error += inside.mean() * abs(said - was)
            print(f"  promised {said:.2f}  came true {was:.2f}  n {inside.sum():,}")
    print(f"  mean gap {error:.4f}; ranked right (AUC) {auc(x, y):.3f}")


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


def report_choices(split: Split, embedder: Photos, known: Calibration) -> None:
    """Facets: pictures of which captions name exactly one of the values; how often is a sure choice the right one?"""
    uses, names = uses_of(split), list(CONCEPTS)
    for facet, values in FACETS.items():
        columns = [names.index(value) for value in values]
        right = uses[:, columns]
        clear = ((right >= 2).sum(axis=1) == 1) & ((right == 1).sum(axis=1) == 0)
        evidence = known.evidence(embedder.texts(list(values)), split.vectors)[clear]
        shares = evidence / (1 + evidence.sum(axis=1, keepdims=True))
        hit, sure = shares.argmax(axis=1) == right[clear].argmax(axis=1), shares.max(axis=1)
        told = sure >= 0.5
        print(f"facet {facet}: {hit.mean():.3f} right of {len(hit)}; told of {told.mean():.2f}, {hit[told].mean():.3f} "
              f"right at a mean confidence of {sure[told].mean():.3f}")  # fmt: skip


def word_pairs(
    split: Split, embedder: Photos, known: Calibration
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.intp]]:
    uses = uses_of(split)
    surprise = known.surprise(embedder.texts(list(CONCEPTS)), split.vectors).astype(np.float64)
    clear = uses != 1
    return surprise[clear], (uses >= 2)[clear], np.nonzero(clear)[0]


def sentence_pairs(
    split: Split, embedder: Photos, known: Calibration
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.intp]]:
    rng = np.random.default_rng(0)
    texts = embedder.texts([captions[0] for captions in split.captions])
    meaning = embedder.texts([" ".join(captions[1:]) for captions in split.captions])
    near = np.argsort(-(meaning @ meaning.T), axis=1)[:, 1:51]
    count = len(texts)
    chance = (np.arange(count) + rng.integers(1, count, count)) % count
    hard = near[np.arange(count), rng.integers(0, near.shape[1], count)]
    other = np.where(np.arange(count) % 2 == 0, chance, hard)
    surprise = known.surprise(texts, split.vectors).astype(np.float64)
    pictures = np.concatenate([np.arange(count), other])
    own = np.arange(2 * count) < count
    for name, rows in (("by chance", np.arange(0, count, 2)), ("near in meaning", np.arange(1, count, 2))):
        x = np.concatenate([surprise[rows, rows], surprise[other[rows], rows]])
        print(f"sentence against a picture {name}: AUC {auc(x, np.arange(len(x)) < len(rows)):.3f}")
    return surprise[pictures, np.tile(np.arange(count), 2)], own, np.tile(np.arange(count), 2)


def report_sharpness(folder: Path) -> None:
    """Detail of photographs as they are, and blurred by that many pixels of 292."""
    for blur in (0.0, *BLURS):
        detail = [look_at(_blurred(path, blur)).detail for path in sorted(folder.glob("*.jpg"))]
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
    curves = {}
    for name, pairs in (("word", word_pairs), ("sentence", sentence_pairs)):
        x, y, owner = pairs(dev, embedder, known)
        report(name, x, y, owner // 2 % 2 == 0)
        curves[f"{name}_curve"] = fit_curve(x, y)
        if name == "word":
            known = replace(known, base=float(y.mean()), word_curve=curves["word_curve"])
            report_choices(dev, embedder, known)
    report_sharpness(options.data / "sample")
    if options.out:
        arrays = {"mean": known.mean.astype(np.float16), "directions": known.directions.astype(np.float16)}
        arrays |= curves | {"rest": known.rest, "base": known.base, "revision": embedder.revision}
        np.savez_compressed(options.out, **arrays)
        print(f"{options.out}: {options.out.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
