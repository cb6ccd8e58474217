"""A small curriculum of four colours, and what a training leaves behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from PIL import Image

from sightline.reason.train.loop import TrainSettings
from sightline.reason.train.trainer import TrainJob

COLOURS = {"A": "red", "B": "green", "C": "blue", "D": "white"}
SETTINGS = TrainSettings(rate=2e-3, tokens=512, half=False, log_every=1, keep_every=2)


def write_curriculum(folder: Path, copies: int = 4) -> Path:
    """Two stages of the same questions, and their pictures."""
    for colour in COLOURS.values():
        Image.new("RGB", (64, 48), colour).save(folder / f"{colour}.png")
    rows = [row_of(key, n) for n in range(copies) for key in COLOURS]
    for name in ("easy", "hard"):
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps({**row, "id": f"{name}-{row['id']}"}) + "\n" for row in rows)
        )
    stages = [{"name": name, "phase": name, "file": f"{name}.jsonl", "records": len(rows)} for name in ("easy", "hard")]
    (folder / "stages.json").write_text(json.dumps(stages))
    return folder


def row_of(key: str, number: int) -> dict[str, Any]:
    """The record of a question whose answer is this key."""
    asked = "Look: <image>\nWhich colour?\nOptions:\nA. red\nB. green\nC. blue\nD. white" + "?" * number
    said = f"Conclusion: It is {COLOURS[key]}. The answer is {key}."
    messages = [{"role": "user", "content": asked}, {"role": "assistant", "content": said}]
    return {"id": f"{key}{number}", "messages": messages, "images": [f"{COLOURS[key]}.png"], "answer": key}


def course_in(tmp_path: Path, **changes: Any) -> TrainJob:
    """The course of that curriculum, which is written unless it is there."""
    folder = tmp_path / "curriculum"
    if not folder.exists():
        folder.mkdir()
        write_curriculum(folder)
    return TrainJob(**{"folder": folder, "model": "glimpse-tiny", "out": tmp_path / "out", "evals": {}, **changes})


def losses_of(folder: Path) -> list[tuple[int, float]]:
    """The steps of a log with their losses."""
    entries = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [(entry["step"], entry["loss"]) for entry in entries if "loss" in entry]


def stages_of(folder: Path) -> list[str]:
    """The stage of each line of a log."""
    return [json.loads(line)["stage"] for line in (folder / "log.jsonl").read_text().splitlines()]


def cut(file: Path) -> None:
    """Leave half of a file."""
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
