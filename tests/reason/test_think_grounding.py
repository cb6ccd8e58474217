"""Claims verified by who looks: true and false ones told apart, and each judged by the part that it speaks of."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import orjson
import pytest
from PIL import Image

from reason.think_tools import script, source_of
from sightline.calls.session import Session
from sightline.models.protocols import ChatModel
from sightline.models.scripted import ScriptedModel
from sightline.reason.traces.grounding import MOST_CROPS, crops_for, verify
from sightline.reason.traces.pipeline import TraceWork, make_traces
from sightline.reason.traces.records import Teacher, TeacherReply, TracePicture, TraceQuestion, TraceRules, Verified
from sightline.reason.traces.teachers import TraceSettings
from sightline.types import Box, ChatRequest, Failure, ImagePart

ANY = TraceRules(language=None, least_words=1)
_COLOURS = ((255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0))


def looked(model: ChatModel, picture: Path | str, sentences: Sequence[str]) -> Verified | Failure:
    """All sentences verified, as if several teachers had said them."""
    said = [TeacherReply("", " ".join(sentences[start : start + 10])) for start in range(0, len(sentences), 10)]
    return asyncio.run(verify(model, TraceQuestion("q", TracePicture("p", str(picture)), "?"), said, ANY))


def supporting(request: ChatRequest) -> str:
    """Everything is supported."""
    claims = re.findall(r"^(\d+)\. ", str(request.messages[-1].content[-1]), re.MULTILINE)
    return orjson.dumps({"verdicts": [{"claim": int(each), "verdict": "supported"} for each in claims]}).decode()


@pytest.fixture
def quarters(tmp_path: Path) -> Path:
    """Red and green above, blue and yellow below; 400 × 200."""
    pixels = np.zeros((200, 400, 3), np.uint8)
    for number, colour in enumerate(_COLOURS):
        row, column = divmod(number, 2)
        pixels[100 * row : 100 * row + 100, 200 * column : 200 * column + 200] = colour
    path = tmp_path / "quarters.png"
    Image.fromarray(pixels).save(path)
    return path


@pytest.mark.world
def test_the_built_in_model_tells_true_claims_from_false_ones(tmp_path: Path) -> None:
    from reason.think_scenes import scenes
    from sightline_world.models.chat.model import WorldChat

    pytest.importorskip("onnxruntime")
    model = WorldChat()
    right: dict[bool, list[bool]] = {True: [], False: []}
    for scene in scenes(tmp_path, 24):
        found = looked(model, scene.path, [sentence.text for sentence in scene.sentences])
        assert isinstance(found, Verified)
        for sentence in scene.sentences:
            verdict = found.verdicts[sentence.text]
            right[sentence.holds].append(verdict == ("supported" if sentence.holds else "contradicted"))
    assert min(len(found) for found in right.values()) >= 80
    assert all(sum(found) >= 0.85 * len(found) for found in right.values())  # By chance it is a third to a half.


@pytest.mark.world
def test_it_serves_as_verifier_of_a_whole_run(tmp_path: Path) -> None:
    from reason.think_scenes import scenes

    pytest.importorskip("onnxruntime")
    drawn = list(scenes(tmp_path, 3))
    said = "<think>I look.</think>It is a drawing, and not a photo, of something."
    honest = script(tmp_path / "honest.jsonl", [{"text": said}])
    lying = [sentence.text for sentence in drawn[0].sentences if not sentence.holds]
    liar = script(tmp_path / "liar.jsonl", [{"text": f"<think>I make it up.</think>{' '.join(lying)}"}])
    subjects = [TracePicture(scene.path.name, str(scene.path)) for scene in drawn]
    settings = TraceSettings((honest, liar), verifier=Teacher("builtin/world"))
    done = make_traces(
        TraceWork(source_of(subjects), settings, Session(tmp_path / "ws")), tmp_path / "out", format_="jsonl"
    )
    assert (done.verified, done.verifier_failed) == (3, {})
    assert done.rejected["ungrounded"] >= 1 and done.teachers[1].kept < 3


def test_the_part_that_a_claim_speaks_of_is_shown_with_the_whole(quarters: Path) -> None:
    model = ScriptedModel(supporting)
    claims = [
        "A yellow field lies in the lower right corner.",
        "Everything here is painted in flat colours.",
        "The box [0, 0, 200, 100] is entirely red.",
        "The same yellow field is in the lower right.",
    ]
    found = looked(model, quarters, claims)
    assert isinstance(found, Verified) and set(found.verdicts) == set(claims)
    assert found.regions == {
        claims[0]: Box(0.5, 0.5, 1, 1),
        claims[2]: Box(0, 0, 0.5, 0.5),
        claims[3]: Box(0.5, 0.5, 1, 1),
    }
    content = model.requests[0].messages[0].content
    whole, yellow, red = (part for part in content if isinstance(part, ImagePart))
    assert whole.source == str(quarters) and whole.data is None
    for part, colour in ((yellow, 3), (red, 0)):
        assert part.data is not None
        pixels = np.asarray(Image.open(io.BytesIO(part.data)))
        assert pixels.shape == (110, 220, 3)  # A tenth more than was named, where there is as much.
        assert (pixels == _COLOURS[colour]).all(axis=2).mean() > 0.8
    words = [part for part in content if isinstance(part, str)]
    assert "50 to 100 % from its left and 50 to 100 % from its top, for claims 1, 4:" in words[0]
    assert "for claim 3:" in words[1] and "2. Everything here" in words[2]


def test_where_there_is_nothing_to_cut(quarters: Path, tmp_path: Path) -> None:
    assert crops_for(str(quarters), ["A red field is on the left of the green one."]) == ()
    assert crops_for("https://p.example/1.jpg", ["It is red in the upper left."]) == ()
    assert crops_for(str(tmp_path / "gone.png"), ["It is red in the upper left."]) == ()
    assert crops_for(str(quarters), ["All of [0.0, 0.0, 1.0, 0.95] is painted."]) == ()
    boxes = [f"It is red in [0.0, 0.0, 0.{end}, 0.3]." for end in range(1, 10)]
    assert len(crops_for(str(quarters), boxes)) == MOST_CROPS


def test_a_part_of_a_picture_that_was_stored_on_its_side(quarters: Path, tmp_path: Path) -> None:
    """A box in pixels is one of the upright picture, which everybody sees."""
    turned = tmp_path / "turned.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6  # To be turned a quarter to the right.
    Image.open(quarters).transpose(Image.Transpose.ROTATE_90).save(turned, exif=exif, quality=95)
    (crop,) = crops_for(str(turned), ["There is yellow in (200, 100, 400, 200)."])
    assert crop.box == Box(0.5, 0.5, 1, 1)
    assert np.abs(np.asarray(Image.open(io.BytesIO(crop.png)))[50:, 50:] - np.array(_COLOURS[3])).mean() < 12
