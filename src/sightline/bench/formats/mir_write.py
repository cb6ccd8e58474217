"""Writing MIR's records from any benchmark of choose tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sightline.bench.formats.base import Content, Options
from sightline.bench.formats.mir_parts import IMAGE, LIST, MAPPING, STEPS, conclusion_key, joined, write_options
from sightline.bench.formats.retrieval import check_options
from sightline.bench.formats.seeds import chosen, copy_picture, inside, label, new_folder, number_or_text, tasks_of
from sightline.errors import UserError
from sightline.io import write_json, write_jsonl
from sightline.types import Benchmark, Choice, Part, PictureRef, Task


def write(content: Content, path: Path, options: Options) -> None:
    """Write a `.json` or `.jsonl` file where the name ends so, else a folder with it and the pictures that are here."""
    check_options(options, "pictures")
    assert isinstance(content, Benchmark)
    copies = chosen(options, "pictures", ("copy", "none")) == "copy"
    records = [
        _record(number, task, content, options) for number, task in enumerate(tasks_of(content, "choose", options), 1)
    ]
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        write_jsonl(path, records)
    elif path.suffix == ".json":
        write_json(path, records)
    else:
        with new_folder(path, "all_data_rel.json") as folder:
            write_json(folder / "all_data_rel.json", records)
            shown = dict.fromkeys(image for record in records for image in record[options.column("images")])
            for name in shown if copies else ():
                copy_picture(content.corpus.pictures.get(name), inside(folder, name), options)


def _record(number: int, task: Task, benchmark: Benchmark, options: Options) -> dict[str, Any]:
    truth = benchmark.truth[task.id]
    assert isinstance(truth, Choice)
    kept = task.extra.get("mir")
    style = kept if isinstance(kept, dict) else {}
    parts = [*task.prompt, *(part for option in task.options for part in option.content)]
    texts = {option.key: _marked(option.content, task) for option in task.options}
    record: dict[str, Any] = {
        "id": None if task.id == str(number) else number_or_text(task.id),
        "images": [part.id for part in parts if isinstance(part, PictureRef)],
        "question": _marked(task.prompt, task),
        "options": write_options(texts, str(style.get("options", MAPPING))),
        "category": label(task, "category"),
        "subtask": label(task, "subtask"),
        **_steps(task, truth, as_list=style.get("caption") == LIST),
    }
    named = {options.column(field): value for field, value in record.items() if value is not None}
    return {**{key: value for key, value in task.extra.items() if key != "mir"}, **named}


def _steps(task: Task, truth: Choice, *, as_list: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        field: joined([step.text for step in truth.steps if step.kind == kind]) for kind, field in STEPS
    }
    captions = [step.text for step in truth.steps if step.kind == "caption"]
    if len(captions) > 1 or as_list:
        found["caption"] = captions
    found["conclusion"] = _conclusion(found["conclusion"], task, truth)
    return found


def _conclusion(said: str | None, task: Task, truth: Choice) -> str | None:
    """The last step as it is if the right option can be read from it, else after the option's key, else the key."""
    ways = () if said is None else (said, f"{truth.option}. {said}")
    return next((way for way in ways if conclusion_key(way, task.options) == truth.option), truth.option)


def _marked(parts: tuple[Part, ...], task: Task) -> str:
    """Parts as one text, `<image>` where a picture stands."""
    if any(isinstance(part, str) and IMAGE in part for part in parts):
        raise UserError(f'task "{task.id}" has {IMAGE} in its words, which MIR takes for a picture.', "reword it")
    return "".join(part if isinstance(part, str) else IMAGE for part in parts)
