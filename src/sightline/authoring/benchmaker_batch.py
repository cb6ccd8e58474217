"""The stage `read-batch`: what a provider's batch answered to benchmaker → annotations and judgments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from sightline.authoring import project as files
from sightline.authoring.project import Project
from sightline.authoring.project_files import BY, AnnotationLines, PlannedQuery, read_plan
from sightline.authoring.stage import StageResult
from sightline.config import Config
from sightline.errors import UserError
from sightline.io.jsonl import LineError, read_jsonl, write_jsonl

_VISION, _JUDGE = "vision::", "judge::"


@dataclass(slots=True)
class _Read:
    """What the lines said: annotations and judgments by picture and query, and what is wrong with the others."""

    notes: dict[str, dict[str, Any]] = field(default_factory=dict)
    judged: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    failed: dict[str, dict[str, str]] = field(default_factory=dict)
    strangers: int = 0


@dataclass(frozen=True, slots=True)
class BatchOutputStage:
    """Takes in output files of batches; what the project has already stays as it is."""

    outputs: tuple[Path, ...]
    name: str = "read-batch"
    writes: tuple[str, ...] = (files.ANNOTATIONS, files.JUDGMENTS)

    def run(self, project: Project) -> StageResult:
        """Add what was answered; a line that can't be used is in the failed file, with the reason."""
        config = project.config
        planned = project.found(files.PLAN)
        plan = {} if planned is None else read_plan(planned, config)
        found = _Read()
        for path in self.outputs:
            for number, row in read_jsonl(path):
                _take(path, number, row, config, plan, found)
        if not (found.notes or found.judged or found.failed):
            raise UserError(
                f"{self.outputs[0]} has no line whose custom_id begins with {_VISION} or {_JUDGE}.",
                "give the output files of benchmaker's batches",
            )
        names, notes = config.columns, found.notes.items()
        judged = [(query, row) for query, several in found.judged.items() for row in several]
        wrote = [_added(project, files.ANNOTATIONS, names.image_id, notes)] if notes else []
        wrote += [_added(project, files.JUDGMENTS, names.query_id, judged)] if found.judged else []
        wrote += _failures(project, found)
        said = (f"{found.strangers:,} lines are of neither stage, and are skipped",) if found.strangers else ()
        return StageResult(
            self.name,
            tuple(wrote),
            {"annotations": len(found.notes), "queries": len(found.judged)},
            dict(Counter(one["error"].partition(":")[0] for one in found.failed.values())),
            said,
        )


def _take(path: Path, number: int, row: Any, config: Config, plan: Mapping[str, PlannedQuery], found: _Read) -> None:
    """One line of an output file; a later answer to the same question takes the place of an earlier one."""
    custom = row.get("custom_id") if isinstance(row, dict) else None
    if not isinstance(custom, str):
        raise LineError(path, number, 'expected an object with "custom_id"')
    stage, _, id_ = custom.partition("::")
    if f"{stage}::" not in (_VISION, _JUDGE) or not id_:
        found.strangers += 1
        return
    try:
        said, model = _answer(row)
        if f"{stage}::" == _VISION:
            found.notes[id_] = _note(id_, said, config) | {BY: model}
        else:
            found.judged[id_] = list(_rows(id_, said, config, plan.get(id_)))
        found.failed.pop(custom, None)
    except ValueError as error:
        found.failed[custom] = {"custom_id": custom, "error": str(error)}


def _answer(row: Mapping[str, Any]) -> tuple[Mapping[str, Any], str | None]:
    """The JSON that the model wrote, and its name; raises `ValueError` with why there is none."""
    response = row.get("response")
    if row.get("error") or not isinstance(response, dict) or response.get("status_code") != 200:
        raise ValueError(f"refused: {orjson.dumps(row.get('error') or response).decode()[:200]}")
    body = response.get("body") or {}
    if body.get("status") not in (None, "completed"):
        raise ValueError(f"cut off: the reply is {body.get('status')}")
    texts = [
        part.get("text", "")
        for item in body.get("output") or ()
        if item.get("type") == "message"
        for part in item.get("content") or ()
    ]
    texts += [choice["message"].get("content") or "" for choice in body.get("choices") or ()]
    try:
        said = orjson.loads("".join(texts))
    except orjson.JSONDecodeError as error:
        raise ValueError(f"no JSON: {error.msg}") from None
    if not isinstance(said, dict):
        raise ValueError("no JSON: expected an object")
    model = body.get("model")
    return said, model if isinstance(model, str) else None


def _note(id_: str, said: Mapping[str, Any], config: Config) -> dict[str, Any]:
    lines, names, settings = AnnotationLines(config), config.columns, config.annotate
    note = lines.read({**said, names.image_id: id_})
    for name, allowed in settings.taxonomy.items():
        if note.facets.get(name) not in allowed:
            raise ValueError(f"invented value: {name} is {note.facets.get(name)!r}")
    strange = [tag for tag in note.tags if settings.vocabulary and tag not in settings.vocabulary]
    if strange:
        raise ValueError(f"invented value: {names.tags} has {strange[0]!r}")
    return lines.write(note)


def _rows(
    query: str, said: Mapping[str, Any], config: Config, planned: PlannedQuery | None
) -> Iterator[dict[str, Any]]:
    """Judgments as rows, seeds first; every candidate once, and none from outside."""
    names = config.columns
    text, judged = said.get(names.query, said.get("query_text")), said.get("judgments")
    if not isinstance(text, str) or not text.strip() or not isinstance(judged, list):
        raise ValueError(f"no judgments: expected {names.query} and a list of judgments")
    grades: dict[str, int] = {}
    for one in judged:
        id_ = one.get(names.image_id, one.get("image_id")) if isinstance(one, dict) else None
        grade = one.get(names.relevance, one.get("relevance_label")) if isinstance(one, dict) else None
        if not isinstance(id_, str) or not isinstance(grade, int):
            raise ValueError("no judgments: expected an id and a whole number in each")
        grades[id_] = int(grade)
    order: Sequence[str] = list(grades)
    if planned is not None:
        outside, missing = set(grades) - set(planned.pictures), set(planned.pictures) - set(grades)
        if outside or missing:
            raise ValueError(f"judgments do not fit: {len(outside)} from outside the pool, {len(missing)} not judged")
        order = planned.pictures
    for id_ in order:
        yield {names.query_id: query, names.query: text, names.image_id: id_, names.relevance: grades[id_]}


def _added(project: Project, name: str, column: str, rows: Any) -> Path:
    """The file with these rows behind those that it has; what it has of the same id stays."""
    path = project.prepare(name)
    earlier = [row for _, row in read_jsonl(path)] if path.is_file() else []
    known = {row.get(column) for row in earlier if isinstance(row, dict)}
    write_jsonl(path, [*earlier, *(row for id_, row in rows if id_ not in known)])
    return path


def _failures(project: Project, found: _Read) -> Iterator[Path]:
    for name, prefix, key in ((files.ANNOTATIONS, _VISION, "image_id"), (files.JUDGMENTS, _JUDGE, "query_id")):
        rows = [
            {key: custom.removeprefix(prefix), **one}
            for custom, one in found.failed.items()
            if custom.startswith(prefix)
        ]
        if rows:
            path = project.failed(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_jsonl(path, rows)
            yield path
