"""`sightline embed` from end to end: real files, a real model, a real process."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from command_line import Cli
from tiny_clip import COLOURS, DIM, write_colours, write_tiny_clip


@pytest.fixture
def model(tmp_path: Path) -> str:
    return f"onnx:{write_tiny_clip(tmp_path / 'clip')}"


def test_pictures_and_texts(cli: Cli, tmp_path: Path, model: str) -> None:
    folder = write_colours(tmp_path / "photos")
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff broken")
    (folder / "notes.txt").write_text("no picture")
    (tmp_path / "queries.txt").write_text("red\n\nblue and " + "green " * 9 + "\n", "utf-8")
    done = cli("embed", "pictures", folder, "--embedder", model, "--out", "v.npz", "--workspace", "ws", "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary.pop("seconds") >= 0 and len(summary.pop("revision")) == 16
    assert summary == {
        "count": len(COLOURS),
        "left_out": {"not a picture": 1, "truncated": 1},
        "dim": DIM,
        "embedder": "onnx:clip",
        "truncated": 0,
        "from_cache": 0,
        "out": "v.npz",
    }
    assert done.stderr.splitlines() == ["left out 'broken.jpg': truncated (the file ends before the picture does)"]
    texts = cli("embed", "texts", "queries.txt", "--embedder", model, "--out", "t.npz", "--workspace", "ws", "--json")
    assert json.loads(texts.stdout)["truncated"] == 1 and "left out '2': empty" in texts.stderr
    with np.load(tmp_path / "v.npz") as pictures, np.load(tmp_path / "t.npz") as words:
        assert pictures["ids"].tolist() == sorted(f"{name}.png" for name in COLOURS)
        assert words["ids"].tolist() == ["1", "3"]
        assert pictures["vectors"].dtype == words["vectors"].dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(pictures["vectors"], axis=1), 1, atol=1e-6)
        assert pictures["ids"][(pictures["vectors"] @ words["vectors"][0]).argmax()] == "red.png"


def test_output_for_people(cli: Cli, tmp_path: Path, model: str) -> None:
    write_colours(tmp_path / "photos")
    arguments = ("embed", "pictures", "photos", "--embedder", model, "--out", "v.npz", "--workspace", "ws")
    first, second = cli(*arguments), cli(*arguments, "--option", "threads=1", "--option", "device=cpu")
    assert first.returncode == second.returncode == 0, second.stderr
    assert "6 pictures · 8 numbers each · onnx:clip" in first.stdout and "6 made now" in first.stdout
    assert "0 made now, 6 from the workspace" in second.stdout and "→ v.npz" in second.stdout
    assert first.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("pictures", "nowhere", "--out", "v.npz"), "There is no folder"),
        (("pictures", "photos"), "--out"),
        (("pictures", "photos", "--out", "v.npz", "--embedder", "fotos"), 'Did you mean "photos"'),
        (("pictures", "photos", "--out", "v.npz", "--embedder", "MODEL", "--option", "devise=cpu"), "devise"),
        (("pictures", "photos", "--out", "v.npz", "--embedder", "MODEL", "--option", "cpu"), "key=value"),
        (("pictures", "photos", "--out", "v.npz", "--embedder", "MODEL", "--workspace", "photos/ws"), "inside"),
        (("texts", "nowhere.txt", "--out", "t.npz", "--embedder", "MODEL"), "can't be read"),
        (("pictures", "photos", "--out", "v.npz", "--embedder", "clip-vit-b32", "--local-only"), "sha256 fd6e1402"),
        (("texts", "q", "--out", "v", "--embedder", "http:http://example.org/v1#m", "--local-only"), "--local-only"),
    ],
)
def test_mistakes_are_told_with_their_fix(
    cli: Cli, tmp_path: Path, model: str, arguments: tuple[str, ...], says: str
) -> None:
    write_colours(tmp_path / "photos")
    words = (model if word == "MODEL" else word for word in arguments)
    done = cli("embed", *words, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert done.returncode == 2, done.stderr
    assert says in done.stderr and "Traceback" not in done.stderr and done.stdout == ""
    assert not (tmp_path / "v.npz").exists()


def test_the_embedder_of_the_configuration_is_used(cli: Cli, tmp_path: Path, model: str) -> None:
    write_colours(tmp_path / "photos")
    (tmp_path / "sightline.toml").write_text(f'[models]\nembedder = "{model}"\n', "utf-8")
    done = cli("embed", "pictures", "photos", "--out", "v.npz", "--json", "--workspace", "ws")
    assert done.returncode == 0 and json.loads(done.stdout)["embedder"] == "onnx:clip", done.stderr
