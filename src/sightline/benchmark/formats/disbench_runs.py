"""DISBench's predictions as runs, and runs as predictions, evaluation files and leaderboard submissions.

| DISBench | here |
|---|---|
| `predictions.jsonl`: `query_id` | `Attempt.task_id` |
| `prediction` (or `predictions`, `answer`, `photo_ids`, `pred`) | `PictureSet` or `Ranking`, see below |
| `scores` | the scores of a ranking |
| `failure` (`kind`, `message`), `attempt` | `Failure`, `Attempt.number`: written by us, and read back |
| submission `meta` | `Run.parameters`; its `method_name` is the system |
| submission `predictions`: `{query_id: [photo_id, …]}`, or a list of lines as above | as above |

The fields of `predictions.jsonl` and the form of a submission's `predictions` are not published: these are our
defaults, and `--map query_id=…`, `--map prediction=…` say otherwise. Photo ids become picture ids by the task's owner,
for which the benchmark is needed; without it they stay as they are.

| form of a prediction | becomes |
|---|---|
| `["id", …]` | a set; with the option `mode=retriever`, or `scores` beside it, a ranking |
| `[["id", 0.9], …]`, `[{"photo_id": "id", "score": 0.9}, …]` | a ranking with scores, in the order given |
| `{"id": 0.9, …}` | a ranking, the highest score first |
| text with `[id, …]`, after its last "final answer is" where it has one | as `["id", …]` |
| other text; `null` | a failure, `unparsed` or `empty` |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported
from sightline.benchmark.formats.dataset_folder import chosen, data_file
from sightline.benchmark.formats.disbench_photos import PhotoIds, owner_of
from sightline.benchmark.formats.retrieval import check_options, finite_number, some
from sightline.benchmark.formats.rows import TableRow, WrongFieldError, checked, read_rows
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import whole_folder
from sightline.io.jsonl import read_json, write_json, write_jsonl
from sightline.types import Attempt, Benchmark, Failure, PictureSet, Prediction, Ranking, Run
from sightline.types.chat import split_model

_FINAL = re.compile(r"final answer(?: is)?", re.IGNORECASE)
_LIST = re.compile(r"\[([^\[\]]*)\]")
_IDS = ("photo_id", "id", "image_id")
_SCORES = ("score", "similarity")
PREDICTIONS, SAMPLES, SUMMARY = "predictions.jsonl", "eval_samples.jsonl", "eval_summary.json"
META = ("method_name", "organization", "track", "agent_framework", "backbone_model", "retriever_model")
TRACKS = ("Standard", "Open")
_FIELDS = ("prediction", "predictions", "answer", "photo_ids", "pred")
_MODES = ("auto", "agent", "retriever")


def parse_prediction(value: Any, scores: Any, field: str, *, ranked: bool) -> Prediction:
    """The prediction in a field; `scores` is what stands beside it, if anything; photo ids stay as they are."""
    if value is None:
        return Failure("empty", "there is no prediction")
    if isinstance(value, str):
        ids = _listed(value)
        if ids is None:
            return Failure("unparsed", f"no list of photo ids in: {value[-200:]}")
        return Ranking(ids) if ranked else PictureSet(ids)
    if isinstance(value, Mapping):
        scored = [(photo, _score(score, f"{field}.{photo}")) for photo, score in value.items()]
        return _ranking(sorted(scored, key=lambda pair: -pair[1]))
    if not isinstance(value, Sequence):
        raise WrongFieldError(field, f"expected a list of photo ids, got {value!r:.60}")
    if value and isinstance(value[0], Sequence | Mapping) and not isinstance(value[0], str):
        return _ranking([_pair(item, f"{field}.{place}") for place, item in enumerate(value)])
    ids = tuple(_id(item, f"{field}.{place}") for place, item in enumerate(value))
    if scores is not None:
        return Ranking(ids, _parallel(scores, len(ids)))
    return Ranking(ids) if ranked else PictureSet(ids)


def _listed(text: str) -> tuple[str, ...] | None:
    """The ids in the last list of a text, the one after its last "final answer is" first of all."""
    said = [*_FINAL.finditer(text)]
    found = [*_LIST.finditer(text, said[-1].end())] if said else [*_LIST.finditer(text)][-1:]
    if not found:
        return None
    parts = (part.strip().strip("\"'`") for part in found[0][1].split(","))
    return tuple(part for part in parts if part)


def _ranking(pairs: list[tuple[str, float]]) -> Ranking:
    return Ranking(tuple(photo for photo, _ in pairs), tuple(score for _, score in pairs))


def _pair(item: Any, field: str) -> tuple[str, float]:
    if isinstance(item, Mapping):
        photo = next((item[key] for key in _IDS if key in item), None)
        score = next((item[key] for key in _SCORES if key in item), None)
        return _id(photo, f"{field}.photo_id"), _score(score, f"{field}.score")
    if isinstance(item, str) or not isinstance(item, Sequence) or len(item) != 2:
        raise WrongFieldError(field, f"expected a photo id and its score, got {item!r:.60}")
    return _id(item[0], f"{field}.0"), _score(item[1], f"{field}.1")


def _parallel(scores: Any, wanted: int) -> tuple[float, ...]:
    if not isinstance(scores, Sequence) or isinstance(scores, str) or len(scores) != wanted:
        raise WrongFieldError("scores", f"expected a list of {wanted} numbers, one for each photo, got {scores!r:.60}")
    return tuple(_score(score, f"scores.{place}") for place, score in enumerate(scores))


def _id(value: Any, field: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise WrongFieldError(field, f"expected a photo id, got {value!r:.60}")
    return str(value)


def _score(value: Any, field: str) -> float:
    number = finite_number(value)
    if number is None:
        raise WrongFieldError(field, f"expected a number, got {value!r:.60}")
    return number


# --- in ----------------------------------------------------------------------------------------------------


def read_predictions(path: Path, options: FormatOptions) -> Imported:
    """A run from `predictions.jsonl`."""
    check_options(options, "mode")
    complaints = Complaints(options)
    file = data_file(path, PREDICTIONS)
    return _Reader(options, complaints).imported(read_rows(file, complaints), file.stem.removesuffix(".jsonl"), {})


def read_submission(path: Path, options: FormatOptions) -> Imported:
    """A run from a leaderboard submission."""
    check_options(options, "mode")
    complaints = Complaints(options)
    given = read_json(path)
    meta, said = (given.get("meta"), given.get("predictions")) if isinstance(given, dict) else (None, None)
    if not isinstance(meta, dict) or not isinstance(said, dict | list):
        raise UserError(f"{path} is not a submission.", 'expected an object with "meta" and "predictions"')
    listed = said if isinstance(said, list) else [{"query_id": query, "prediction": ids} for query, ids in said.items()]
    rows = (_entry(path, place, values, complaints) for place, values in enumerate(listed, 1))
    system = meta.get("method_name")
    name = system if isinstance(system, str) and system else path.stem
    return _Reader(options, complaints).imported(filter(None, rows), name, meta)


def _entry(path: Path, place: int, values: Any, complaints: Complaints) -> TableRow | None:
    if isinstance(values, dict):
        return TableRow(path, place, values)
    complaints.add(path, None, f"predictions.{place - 1}", f"expected an object, got {values!r:.60}")
    return None


class _Reader:
    """Rows of predictions into a run; with a benchmark, photo ids into picture ids."""

    def __init__(self, options: FormatOptions, complaints: Complaints) -> None:
        self._options = options
        self._complaints = complaints
        self._ranked = chosen(options, "mode", _MODES) == "retriever"
        self._benchmark = options.benchmark
        self._ids = None if options.benchmark is None else PhotoIds(options.benchmark)
        self._unknown: list[str] = []

    def imported(self, rows: Iterable[TableRow], system: str, parameters: Mapping[str, Any]) -> Imported:
        """The run, what was wrong with its lines, and what the user should know of it."""
        attempts: dict[tuple[str, int], Attempt] = {}
        lines: dict[tuple[str, int], int] = {}
        for row in rows:
            with checked(row, self._complaints):
                attempt = self._attempt(row)
                key = attempt.task_id, attempt.number
                if lines.setdefault(key, row.line) != row.line:
                    again = f'"{attempt.task_id}" is already on line {lines[key]}; number repeated runs with "attempt"'
                    raise WrongFieldError(self._options.column("query_id"), again)
                attempts[key] = attempt
        run = Run(
            benchmark="DISBench" if self._benchmark is None else self._benchmark.name,
            system=self._options.name or system,
            attempts=tuple(attempts.values())[: self._options.limit],
            benchmark_checksum=None if self._benchmark is None else self._benchmark.checksum,
            parameters=dict(parameters),
        )
        return Imported(run, tuple(self._complaints.problems), tuple(self._warnings(run)))

    def _attempt(self, row: TableRow) -> Attempt:
        id_ = self._options.column("query_id")
        task = row.id(id_)
        if self._benchmark is not None and task not in self._benchmark.tasks:
            raise WrongFieldError(id_, f'"{task}" is not a task of "{self._benchmark.name}"')
        number = row.values.get("attempt", 0)
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise WrongFieldError("attempt", f"expected a whole number from 0, got {number!r:.60}")
        return Attempt(task, self._named(task, self._prediction(row)), number)

    def _prediction(self, row: TableRow) -> Prediction:
        failure = row.values.get("failure")
        if isinstance(failure, dict):
            return Failure(str(failure.get("kind", "failed")), str(failure.get("message", "")))
        mapped = self._options.columns.get("prediction")
        names = _FIELDS if mapped is None else (mapped,)
        field = next((name for name in names if name in row.values), None)
        if field is None:
            raise WrongFieldError(names[0], f"expected a list of photo ids under {' or '.join(names)}")
        scores = row.values.get(self._options.column("scores"))
        return parse_prediction(row.values[field], scores, field, ranked=self._ranked)

    def _named(self, task: str, said: Prediction) -> Prediction:
        """The same prediction with our picture ids; photos of other owners stay, and count as wrong."""
        if self._benchmark is None or self._ids is None or not isinstance(said, PictureSet | Ranking):
            return said
        owner = owner_of(self._benchmark.tasks[task])
        pictures = tuple(self._ids.picture(owner, photo) for photo in said.pictures)
        self._unknown += [picture for picture in pictures if not self._ids.owns(owner, picture)]
        return Ranking(pictures, said.scores) if isinstance(said, Ranking) else PictureSet(pictures)

    def _warnings(self, run: Run) -> Iterator[str]:
        failed = [attempt for attempt in run.attempts if isinstance(attempt.prediction, Failure)]
        if failed:
            yield f"{counted(len(failed), 'prediction')} failed or could not be read; counted as empty"
        if self._benchmark is None:
            yield "photo ids are kept as they are; with --benchmark they become picture ids"
            return
        answered = {attempt.task_id for attempt in run.attempts}
        missing = [task for task in self._benchmark.tasks.values() if task.kind == "select" and task.id not in answered]
        if missing:
            said = counted(len(missing), "query has", "queries have")
            yield f"{said} no prediction; counted as empty: {some([task.id for task in missing])}"
        if self._unknown:
            said = counted(len(self._unknown), "predicted id is", "predicted ids are")
            yield f"{said} not in the query user's photos; counted as wrong: {some(self._unknown)}"


# --- out ---------------------------------------------------------------------------------------------------


def write_predictions(content: Content, path: Path, options: FormatOptions) -> None:
    """Write `predictions.jsonl` alone where the name ends so, else a folder with it and both evaluation files."""
    check_options(options, "mode")
    assert isinstance(content, Run)
    mode = chosen(options, "mode", _MODES)
    rows = _lines(content, options.benchmark)
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        write_jsonl(path, rows)
        return
    if options.benchmark is None:
        raise UserError(
            "the evaluation files need the truth.",
            "add --benchmark BENCH, or give a name that ends in .jsonl to write the predictions alone",
        )
    from sightline.benchmark.formats.disbench_evaluation import evaluate_run

    found = evaluate_run(options.benchmark, content, mode)
    with whole_folder(path, marker=PREDICTIONS, owned=(PREDICTIONS, SAMPLES, SUMMARY)) as folder:
        write_jsonl(folder / PREDICTIONS, rows)
        write_jsonl(folder / SAMPLES, found.samples())
        write_json(folder / SUMMARY, found.summary())


def write_submission(content: Content, path: Path, options: FormatOptions) -> None:
    """Write a leaderboard submission: `meta` from the run and the options, and a set of photos for each query."""
    assert isinstance(content, Run)
    meta = submission_meta({**run_meta(content), **options.extra})
    if options.benchmark is None:
        raise UserError("a submission names the photos of every query.", "add --benchmark BENCH")
    ids = PhotoIds(options.benchmark)
    first = {attempt.task_id: attempt.prediction for attempt in reversed(content.attempts) if attempt.number == 0}
    predictions: dict[str, list[str]] = {}
    for task in options.benchmark.tasks.values():
        said = first.get(task.id)
        if isinstance(said, Ranking):
            raise UserError(
                f'the prediction for "{task.id}" is a ranking; a submission holds sets.', "submit a run that selects"
            )
        if task.kind == "select":
            owner = owner_of(task)
            chosen_ = said.pictures if isinstance(said, PictureSet) else ()
            predictions[task.id] = list(dict.fromkeys(ids.photo(owner, picture) for picture in chosen_))
    write_json(path, {"meta": meta, "predictions": predictions})


def run_meta(run: Run) -> dict[str, str]:
    """What a run says of the fields of `meta`; of a vote, what the run says whose attempts it takes together."""
    told: Mapping[str, Any] = run.parameters
    known: Mapping[str, Any] = told["vote_of"]["parameters"] if "vote_of" in told else told
    given = {name: value for name in META if isinstance(value := told.get(name), str)}
    if known.get("kind") not in ("agent", "chat"):
        return {"method_name": run.system, **given}
    made_by = f"Sightline {run.versions.get('sightline', '')}".strip()
    return {
        "method_name": run.system,
        "track": str(known.get("track", TRACKS[0])),
        "agent_framework": made_by if known["kind"] == "agent" else "",
        "backbone_model": split_model(str(known["model"]))[0],
        "retriever_model": str(known.get("embedder") or ""),
        **given,
    }


def submission_meta(given: Mapping[str, str]) -> dict[str, str]:
    """The `meta` of a submission: every field that the leaderboard asks for, the track spelt as it spells it."""
    missing = [name for name in META if name not in given]
    if missing:
        raise UserError(
            f"a submission also needs {', '.join(missing)}.",
            f"add {' '.join(f'--option {name}=…' for name in missing)} (empty where it does not apply)",
        )
    tracks = {track.lower(): track for track in TRACKS}
    track = tracks.get(given["track"].lower())
    if track is None:
        raise UserError(f'there is no track "{given["track"]}".', f"choose from {', '.join(TRACKS)}")
    rest = {name: value for name, value in given.items() if name not in META}
    return {**{name: given[name] for name in META}, "track": track, **rest}


def _lines(run: Run, benchmark: Benchmark | None) -> Iterator[dict[str, Any]]:
    ids = None if benchmark is None else PhotoIds(benchmark)
    for attempt in run.attempts:
        task = None if benchmark is None else benchmark.tasks.get(attempt.task_id)
        if task is not None and task.kind != "select":
            continue
        said = attempt.prediction
        row: dict[str, Any] = {"query_id": attempt.task_id, "prediction": []}
        if isinstance(said, PictureSet | Ranking):
            row["prediction"] = [
                name if task is None or ids is None else ids.photo(owner_of(task), name) for name in said.pictures
            ]
        elif isinstance(said, Failure):
            row["failure"] = {"kind": said.kind, "message": said.message}
        else:
            row["failure"] = {"kind": "wrong-form", "message": "the prediction is not a set of pictures"}
        if isinstance(said, Ranking) and said.scores is not None:
            row["scores"] = list(said.scores)
        if attempt.number:
            row["attempt"] = attempt.number
        yield row


FORMATS = {
    "disbench-predictions": Format(
        "disbench-predictions",
        "DISBench predictions in; predictions, eval_samples and eval_summary out",
        read_predictions,
        write_predictions,
        writes=(Run,),
    ),
    "disbench-submission": Format(
        "disbench-submission", "DISBench leaderboard submission", read_submission, write_submission, writes=(Run,)
    ),
}
