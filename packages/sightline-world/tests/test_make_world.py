"""The built-in world from pictures to judged pools, by `builtin/world`: labels are compared with what was drawn."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sightline
from sightline.calls.session import Session
from sightline.config import Config
from sightline.types import Relevance
from sightline_world.histories import read_shots, write_history
from sightline_world.models.declaration import world_taxonomy
from sightline_world.scene import SCENE_COLOURS, SCENE_KINDS, SCENE_LIGHTS, SCENE_PLACES

pytest.importorskip("onnxruntime")


def asked_for(query: str) -> set[str]:
    """What a query of the templates asks for, in the words of a caption's tags."""
    text, found = query.casefold().replace("people", "person"), set()
    colour = "|".join(SCENE_COLOURS)
    for kind in sorted((*SCENE_KINDS, "person"), key=len, reverse=True):
        for match in re.finditer(rf"(?:\b({colour}) )?\b{kind}\b", text):
            found.add(f"{match[1]} {kind}" if match[1] else kind)
        text = re.sub(rf"\b{kind}\b", " ", text)
    return found | {word for word in (*SCENE_PLACES, *SCENE_LIGHTS) if re.search(rf"\b{word}\b", text)}


@pytest.mark.slow
def test_labels_agree_with_what_was_drawn(tmp_path: Path) -> None:
    write_history(tmp_path / "life", seed=11, pictures=60)
    config = Config.model_validate({"plan": {"seeds": 12}, "annotate": _questions()})
    made = sightline.make(
        tmp_path / "life" / "pictures", model="builtin/world", session=Session(tmp_path / "ws", config)
    )
    benchmark = made.benchmark()
    assert made.usd == 0.0
    assert len(benchmark.tasks) >= 10
    drawn = {shot.id: {tag.strip() for tag in shot.captions.tags.split(",")} for shot in read_shots(tmp_path / "life")}
    right = wrong = missed = 0
    for id_, task in benchmark.tasks.items():
        wanted, truth = asked_for(str(task.prompt[0])), benchmark.truth[id_]
        assert isinstance(truth, Relevance)
        fitting = {picture for picture, tags in drawn.items() if wanted <= tags}
        relevant = {picture for picture, grade in truth.grades.items() if grade}
        right, wrong = right + len(relevant & fitting), wrong + len(relevant - fitting)
        missed += len(fitting - relevant)
    assert right >= 20
    assert wrong <= 0.2 * right
    assert missed <= 0.3 * right


def _questions() -> dict[str, object]:
    known = world_taxonomy()
    return {
        "taxonomy": known.facets, "flags": known.flags, "vocabulary": known.vocabulary,
        "min_tags": 0,
    }  # fmt: skip
