"""Try the built-in models on lives that no training has seen.

Run (both packages: PYTHONPATH=src:packages/sightline-world/src):
  python training/world/evaluate.py [--scenes 1000]     (Sightline with its `onnx` extra)
Half of the scenes come from one life each; every third of all is the one before it with a single attribute changed.
Captions have at most 12 words, in phrasings that are held out from training.
"""

from __future__ import annotations

import argparse
import io
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from random import Random

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.errors import UserError
from sightline.models.protocols import Vectors
from sightline.types import Box
from sightline_world.captions import caption
from sightline_world.draw import ScenePlan, draw
from sightline_world.histories.people import owner_names
from sightline_world.histories.shots import batches
from sightline_world.histories.towns import town_map
from sightline_world.histories.years import plan_history
from sightline_world.models.chat.parser import understand
from sightline_world.models.chat.verification import check_all
from sightline_world.models.embedder import WorldEmbedder
from sightline_world.models.scene_reader import Reading, read
from sightline_world.scene import SceneGraph, Sign
from sightline_world.scene_pairs import variable, vary

SEEDS = (90_001, 90_002)
"""Lives with these numbers are drawn for nothing else."""
SEEN_HIDDEN, SEEN_AREA = 0.5, 0.0015
LEGIBLE_PX, LEGIBLE_HIDDEN = 7.0, 0.05
ATTRIBUTES = ("colour", "count", "kind", "place", "light", "words", "coat", "headgear")


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture as it comes out of its file, and the truth about it."""

    pixels: NDArray[np.uint8]
    graph: SceneGraph


def scenes(count: int, seeds: Sequence[int] = SEEDS) -> list[Scene]:
    """Scenes of held-out lives; every third is a twin of the one before it."""
    each = -(-count // len(seeds))
    with ProcessPoolExecutor() as pool:
        parts = list(pool.map(_scenes_of, seeds, [each] * len(seeds)))
    return [scene for part in parts for scene in part][:count]


def _scenes_of(seed: int, count: int) -> list[Scene]:
    found: list[Scene] = []
    for plan in islice(_plans(seed, count), -(-count * 2 // 3)):
        found.append(_shot(plan))
        if len(found) % 3 == 2:
            found.append(_shot(_twin(plan)))
    return found[:count]


def _plans(seed: int, count: int) -> Iterator[ScenePlan]:
    """Scenes of one life in a random order, without copies and the later frames of bursts."""
    life = plan_history(seed, owner_names(seed, 1)[0], town_map(seed), 2 * count + 200, (320, 240))
    frames = [frame for batch in batches(life) for frame in batch.frames]
    plans = [frame.plan for frame in frames if frame.copy is None and frame.plan.moment == 0]
    Random(seed).shuffle(plans)
    yield from plans


def _twin(plan: ScenePlan) -> ScenePlan:
    able = [name for name in variable(plan) if name in ATTRIBUTES]
    Random(plan.seed).shuffle(able)
    for name in able:
        try:
            return vary(plan, name, plan.seed)
        except UserError:
            continue
    return plan


def _shot(plan: ScenePlan) -> Scene:
    drawing = draw(plan)
    buffer = io.BytesIO()
    drawing.image.save(buffer, "JPEG", quality=plan.camera.quality)
    return Scene(np.asarray(Image.open(buffer).convert("RGB")), drawing.graph)


# --- finding pictures by words ---------------------------------------------------------------------------------


def ranks_of(pictures: Vectors, captions: Sequence[str]) -> NDArray[np.intp]:
    """The rank of each caption's own scene, from 1; ties count against."""
    scores = WorldEmbedder().texts(captions) @ pictures.T
    ranks: NDArray[np.intp] = (scores >= scores.diagonal()[:, None]).sum(1)
    return ranks


def times_true(shown: Sequence[Scene], captions: Sequence[str]) -> NDArray[np.intp]:
    """Of how many scenes each caption is true: no search can put more than k of them first."""
    truths = [Reading(scene.graph, 1.0, 1.0, {}) for scene in shown]
    meant = [understand(text) for text in captions]
    return np.array([sum(check_all(each, truth).holds for truth in truths) for each in meant])


def captions_of(shown: Sequence[Scene], phrasing: str = "held-out") -> list[str]:
    return [
        caption(scene.graph, "short", Random(f"{number}/try"), phrasing)  # type: ignore[arg-type]
        for number, scene in enumerate(shown)
    ]


# --- reading pictures ------------------------------------------------------------------------------------------


def reading_scores(shown: Sequence[Scene]) -> dict[str, float]:
    """F1 of things with their colours, counts, place, light, signs; and milliseconds for a picture."""
    right = guessed = true = 0
    counts: list[bool] = []
    signs: list[bool] = []
    places: list[bool] = []
    lights: list[bool] = []
    started = time.process_time()
    readings = [read(scene.pixels) for scene in shown]
    spent = (time.process_time() - started) / max(1, len(shown))
    for scene, reading in zip(shown, readings, strict=True):
        wanted, allowed, found = _things(scene.graph), _things(scene.graph, all_of_them=True), _things(reading.graph)
        right += sum((wanted & found).values())
        true += wanted.total()
        # What is hardly seen is no miss when it is overlooked, and no mistake when it is found.
        guessed += found.total() - sum(((allowed - wanted) & (found - wanted)).values())
        kinds, kinds_found = _kinds(wanted), _kinds(found)
        hard = set(_kinds(allowed - wanted))
        counts += [kinds_found[kind] == number for kind, number in kinds.items() if kind not in hard]
        signs += [_read(sign, reading) for sign in scene.graph.signs if _legible(sign)]
        places.append(scene.graph.place == reading.graph.place)
        lights.append(scene.graph.light == reading.graph.light)
    precision, recall = right / max(1, guessed), right / max(1, true)
    return {
        "object_colour_f1": 2 * precision * recall / max(1e-9, precision + recall),
        "precision": precision,
        "recall": recall,
        "count": float(np.mean(counts)),
        "signs": float(np.mean(signs)) if signs else float("nan"),
        "signs_read": len(signs),
        "place": float(np.mean(places)),
        "light": float(np.mean(lights)),
        "ms_a_picture": 1000 * spent,
    }


def _things(graph: SceneGraph, *, all_of_them: bool = False) -> Counter[tuple[str, str]]:
    """Kinds with colours, people with their coats; without what is mostly hidden or tiny, unless all are asked for."""
    named = [(thing.kind, thing.colour, thing) for thing in graph.things]
    named += [("person", figure.coat, figure) for figure in graph.figures]
    return Counter((kind, colour) for kind, colour, item in named if all_of_them or _seen(item.box, item.hidden))


def _seen(box: Box, hidden: float) -> bool:
    return hidden <= SEEN_HIDDEN and (box.right - box.left) * (box.bottom - box.top) >= SEEN_AREA


def _kinds(things: Counter[tuple[str, str]]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for (kind, _), number in things.items():
        counted[kind] += number
    return counted


def _legible(sign: Sign) -> bool:
    return sign.letter_px >= LEGIBLE_PX and sign.hidden <= LEGIBLE_HIDDEN


def _read(sign: Sign, reading: Reading) -> bool:
    return any(found.words == sign.words for found in reading.graph.signs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=1000)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS, help="lives")
    chosen = parser.parse_args()
    shown = scenes(chosen.scenes, chosen.seeds)
    pictures = WorldEmbedder().pictures([scene.pixels for scene in shown])
    captions = captions_of(shown)
    ranks, true = ranks_of(pictures, captions), times_true(shown, captions)
    scores = {f"recall@{k}": float((ranks <= k).mean()) for k in (1, 5, 10)}
    scores["best possible recall@10"] = float(np.minimum(1, 10 / np.maximum(1, true)).mean())
    scores["recall@10 of captions true of at most 10"] = float((ranks[true <= 10] <= 10).mean())
    scores["recall@10 in phrasings of training"] = float(
        (ranks_of(pictures, captions_of(shown, "training")) <= 10).mean()
    )
    print(json.dumps({"scenes": len(shown), **scores, **reading_scores(shown)}, indent=1))


if __name__ == "__main__":
    main()
