"""Pictures of the world for training, drawn on all cores straight into arrays, with their truth.

Run (both packages: PYTHONPATH=src:packages/sightline-world/src):
  python training/world/pictures.py [--pictures N]      (numpy and Pillow alone)
Each set of pictures is a folder:
  pictures.u8   count × height × width × 3
  truth.npz     things (count × 24 × 11), whole (count × 2: place, light), words and grams of captions, words of signs
Beside them lies signs.npz: sign cut-outs (96 × 160, grey) and the words on them; the first `held` are not trained on.
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import os
import time
from dataclasses import replace
from multiprocessing.pool import Pool
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from sightline.errors import UserError
from sightline.types import Box
from sightline_world.captions import READABLE_PX, caption
from sightline_world.draw import draw, pin
from sightline_world.draw.plan import ScenePlan, SignWish
from sightline_world.draw.signs import paint
from sightline_world.models.network_inputs import cut_sign, encode
from sightline_world.scene import (
    HAIR,
    HEADGEAR,
    SCENE_COLOURS,
    SCENE_KINDS,
    SCENE_LIGHTS,
    SCENE_PLACES,
    SCENE_SIZES,
    SceneGraph,
)
from sightline_world.scene_pairs import variable, vary
from sightline_world.scene_plans import random_plan, sign_styles

THINGS, RELATIONS, CAPTIONS, WORDS, SIGN_WORDS = 24, 96, 16, 16, 4
PREDICATES = ("left of", "behind", "on", "holding")
PERSON, SIGN = len(SCENE_KINDS), len(SCENE_KINDS) + 1
NONE = -1.0
_PART = 192  # A multiple of three, so that a twin has its original in the same part.


def plans(first: int, count: int, seed: str, size: tuple[int, int]) -> list[ScenePlan]:
    """Random plans; every third is another one with a single attribute changed."""
    made: list[ScenePlan] = []
    for number in range(first, first + count):
        rng = Random(f"{seed}/{number}")
        if made and number % 3 == 2:
            made.append(vary(made[-1], rng.choice(variable(made[-1])), rng.getrandbits(30)))
        else:
            made.append(random_plan(rng.getrandbits(60), rng.random(), size))
        try:
            pin(made[-1])
        except UserError as error:  # One plan that can't be drawn must not stop an hour of drawing.
            print(f"plan {seed}/{number} was replaced: {error}", flush=True)
            made[-1] = random_plan(rng.getrandbits(60), 0.0, size)
    return made


def truth_of(graph: SceneGraph) -> NDArray[np.float32]:
    """A row for each thing: kind, box, colour, size, hair, headgear and its colour, hidden share; -1 for nothing."""
    rows = np.full((THINGS, 11), NONE, np.float32)
    found: list[tuple[float, ...]] = []
    for thing in graph.things:
        looks = (SCENE_COLOURS.index(thing.colour), SCENE_SIZES.index(thing.size), NONE, NONE, NONE)
        found.append((SCENE_KINDS.index(thing.kind), *_corners(thing.box), *looks, thing.hidden))
    for figure in graph.figures:
        on = NONE if figure.headgear_colour is None else SCENE_COLOURS.index(figure.headgear_colour)
        hair = HAIR.index(figure.hair)
        looks = (SCENE_COLOURS.index(figure.coat), NONE, hair, HEADGEAR.index(figure.headgear), on)
        found.append((PERSON, *_corners(figure.box), *looks, figure.hidden))
    for sign in graph.signs:
        found.append((SIGN, *_corners(sign.box), NONE, NONE, NONE, NONE, NONE, sign.hidden))
    for at, row in enumerate(found[:THINGS]):
        rows[at] = row
    return rows


def relations_of(graph: SceneGraph) -> NDArray[np.int8]:
    """A row for each relation: subject, predicate, object, by the rows of `truth_of`; -1 for nothing."""
    ids = [item.id for item in (*graph.things, *graph.figures, *graph.signs)][:THINGS]
    rows = np.full((RELATIONS, 3), -1, np.int8)
    known = [r for r in graph.relations if r.subject in ids and r.object in ids]
    for at, relation in enumerate(known[:RELATIONS]):
        predicate = PREDICATES.index(relation.predicate)
        rows[at] = ids.index(relation.subject), predicate, ids.index(relation.object)
    return rows


def _corners(box: Box) -> tuple[float, float, float, float]:
    return box.left, box.top, box.right, box.bottom


def shot(plan: ScenePlan) -> tuple[Image.Image, SceneGraph]:
    """The picture as it comes out of a JPEG file."""
    drawing = draw(plan)
    buffer = io.BytesIO()
    drawing.image.save(buffer, "JPEG", quality=plan.camera.quality)
    return Image.open(buffer).convert("RGB"), drawing.graph


def _part(job: tuple[str, int, int, str, tuple[int, int]]) -> dict[str, NDArray[Any]]:
    file, first, count, seed, size = job
    pictures = np.memmap(file, np.uint8, "r+", offset=first * size[0] * size[1] * 3, shape=(count, size[1], size[0], 3))
    things, related, whole, texts, signs = [], [], [], [], []
    for at, plan in enumerate(plans(first, count, seed, size)):
        image, graph = shot(plan)
        pictures[at] = np.asarray(image)
        things.append(truth_of(graph))
        related.append(relations_of(graph))
        whole.append((SCENE_PLACES.index(graph.place), SCENE_LIGHTS.index(graph.light)))
        rng = Random(f"{plan.seed}/words")
        levels = ["short"] * (CAPTIONS - 2) + ["sentence"] * 2
        texts += [caption(graph, level, rng, "training") for level in levels]  # type: ignore[arg-type]
        signs.append(" ".join(sign.words for sign in graph.signs if sign.letter_px >= READABLE_PX))
    words, grams = encode(texts, WORDS)
    sign_words, sign_grams = encode(signs, SIGN_WORDS)
    return {
        "things": np.stack(things).astype(np.float16),
        "relations": np.stack(related),
        "whole": np.array(whole, np.int16),
        "words": _wide(words, WORDS).reshape(count, CAPTIONS, WORDS),
        "grams": _wide(grams, WORDS).reshape(count, CAPTIONS, WORDS, -1),
        "sign_words": _wide(sign_words, SIGN_WORDS),
        "sign_grams": _wide(sign_grams, SIGN_WORDS),
    }


def _wide(array: NDArray[np.int64], length: int) -> NDArray[np.int16]:
    short = array.astype(np.int16)
    padding = [(0, 0), (0, length - array.shape[1]), *([(0, 0)] * (array.ndim - 2))]
    return np.pad(short, padding)


def draw_pictures(pool: Pool, folder: Path, count: int, seed: str, size: tuple[int, int] = (320, 240)) -> None:
    """Draw `count` pictures and keep their truth."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "pictures.u8"
    with file.open("wb") as out:
        out.truncate(count * size[0] * size[1] * 3)
    jobs = [(str(file), at, min(_PART, count - at), seed, size) for at in range(0, count, _PART)]
    parts = list(pool.imap(_part, jobs))
    np.savez(folder / "truth.npz", size=size, **{name: np.concatenate([p[name] for p in parts]) for name in parts[0]})


def _random_words(rng: Random) -> str:
    """One or two words, half of them made of sounds and half of any letters."""

    def word() -> str:
        if rng.random() < 0.5:
            return "".join(rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(rng.randint(2, 9)))
        sounds = [rng.choice("BCDFGHJKLMNPRSTVWZ") + rng.choice("AEIOUAEIOY") for _ in range(rng.randint(1, 4))]
        return ("".join(sounds) + rng.choice(["", "N", "R", "S", "T", "L"]))[:9]

    return word() if rng.random() < 0.7 else f"{word()} {word()}"


def _signs(job: tuple[int, int, str]) -> tuple[list[NDArray[np.uint8]], list[str]]:
    """Signs as they stand in whole pictures."""
    first, count, seed = job
    cuts, words = [], []
    for number in range(first, first + count):
        rng = Random(f"{seed}/sign/{number}")
        plan = random_plan(rng.getrandbits(60), difficulty=rng.random())
        styles = sign_styles(plan.place)
        wishes = tuple(
            SignWish(_random_words(rng), rng.choice(styles), rng.choice(SCENE_SIZES), rng.random() < 0.5)
            for _ in range(2)
        )
        width = rng.choice((320, 320, 480, 640, 800))
        image, graph = shot(replace(plan, signs=wishes, size=(width, width * 3 // 4)))
        for sign in graph.signs:
            if sign.hidden <= 0.05 and sign.letter_px >= 6:
                cuts.append(cut_sign(np.asarray(image), sign.box, rng.uniform(0.0, 0.12)))
                words.append(sign.words)
    return cuts, words


def _boards(job: tuple[int, int, str]) -> tuple[list[NDArray[np.uint8]], list[str]]:
    """Signs alone before a plain background: far quicker to draw than a scene."""
    first, count, seed = job
    cuts, words = [], []
    for number in range(first, first + count):
        rng = Random(f"{seed}/board/{number}")
        text, style = _random_words(rng), rng.choice(("post", "shop", "banner", "frame"))
        letters = 6 * 5 ** rng.random()
        board = paint(text, style, rng.choice(SCENE_SIZES), rng.random() < 0.5, rng.randrange(16), letters)
        wide, high = board.size
        margin = round(0.15 * max(wide, high))
        image = Image.new("RGB", (wide + 2 * margin, high + 2 * margin), tuple(rng.randrange(256) for _ in range(3)))
        image.paste(board, (margin, margin), board)
        image = image.rotate(rng.gauss(0, 1.5), Image.Resampling.BILINEAR, fillcolor=image.getpixel((0, 0)))
        image = image.filter(ImageFilter.GaussianBlur(rng.choice((0.0, 0.3, 0.6, 0.9)) * letters / 9))
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=rng.randint(50, 95))
        pixels = np.asarray(Image.open(buffer).convert("RGB"))
        x, y = margin / image.width, margin / image.height
        cuts.append(cut_sign(pixels, Box(x, y, 1 - x, 1 - y), rng.uniform(0.0, 0.12)))
        words.append(text)
    return cuts, words


def draw_signs(pool: Pool, file: Path, count: int, seed: str) -> None:
    """Signs in `count` pictures of several sizes, and ten times as many alone; some of the former are held out."""
    jobs = [(at, min(64, count - at), seed) for at in range(0, count, 64)]
    parts = list(pool.imap(_signs, jobs))
    scenes = sum(len(words) for _, words in parts)
    parts += pool.imap_unordered(_boards, [(at, min(256, 10 * count - at), seed) for at in range(0, 10 * count, 256)])
    cuts = np.concatenate([np.stack(cuts) for cuts, words in parts if words])
    np.savez(file, cuts=cuts, words=np.array([word for _, words in parts for word in words]), held=scenes // 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=Path("training/world/cache"))
    parser.add_argument("--pictures", type=int, default=160_000)
    parser.add_argument("--sign-pictures", type=int, default=12_000)
    chosen = parser.parse_args()
    started = time.monotonic()
    jobs = [
        ("wide", chosen.pictures * 3 // 4, (320, 240), "train/wide"),
        ("high", chosen.pictures // 4, (240, 320), "train/high"),
        ("wide-held", min(2997, chosen.pictures // 10), (320, 240), "held/wide"),
        ("high-held", min(999, chosen.pictures // 20), (240, 320), "held/high"),
    ]
    with multiprocessing.Pool(os.cpu_count()) as pool:
        for name, count, size, seed in jobs:
            draw_pictures(pool, chosen.cache / name, count, seed, size)
            print(f"drew {count} pictures ({name}), {time.monotonic() - started:.0f} s so far", flush=True)
        if chosen.sign_pictures:
            draw_signs(pool, chosen.cache / "signs.npz", chosen.sign_pictures, "train")
    print(f"drew signs in {chosen.sign_pictures} pictures, {time.monotonic() - started:.0f} s so far", flush=True)


if __name__ == "__main__":
    main()
