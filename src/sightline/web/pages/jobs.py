"""Long jobs: start one by a small form, watch it, pause it, stop it, and go on; and the folders of this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from sightline.corpus.store import CorpusStore
from sightline.engine.worker_pool import cores
from sightline.errors import UserError
from sightline.models.embedders.known_models import KNOWN
from sightline.models.embedders.registry import DEFAULT
from sightline.reports.text import seconds
from sightline.runs.folder import read_run
from sightline.web.app_state import AppState, go, missing
from sightline.web.jobs import Job
from sightline.web.security import EXPORT_POLICY

Kind: TypeAlias = Literal["folder", "embedder", "benchmark", "run", "name", "text", "flag"]
_NAME = re.compile(r"\w[\w.-]{0,79}")
_SHOWN = 40
_WORDS_ONLY = "none"
_PER_PICTURE = {DEFAULT: 0.055}
"""Seconds of one core for a photograph of 12 megapixels (benchmarks/photos.py); others were not measured."""
_NUMBERS = {DEFAULT: 1408, "clip-vit-b32": 512, "siglip-b16": 768}
_MANY = 10_000
_ARCHIVE = ".zip"


@dataclass(frozen=True, slots=True)
class JobField:
    """A field of a form: `option` is what its value is given with; without one it is an argument by its place."""

    name: str
    label: str
    kind: Kind
    option: str = ""
    value: str = ""
    hint: str = ""
    is_needed: bool = True


@dataclass(frozen=True, slots=True)
class JobForm:
    """What is asked before a job is started; `plan_first` says what it costs before it is done."""

    verb: str
    title: str
    told: str
    fields: tuple[JobField, ...]
    button: str = "Start"
    plan_first: bool = False


_MODEL = JobField(
    "model", "Model", "text", "--model", hint="built in; or a chat model such as openai/gpt-5-mini", is_needed=False
)
_BUDGET = JobField("budget", "Budget", "text", "--budget", hint="such as 5usd", is_needed=False)
FORMS: Mapping[str, JobForm] = {
    form.verb: form
    for form in (
        JobForm(
            "scan",
            "Add pictures",
            "Reads the pictures of a folder of this machine, and of the folders in it. Nothing is copied, nothing is "
            "written to it, and nothing leaves this machine unless you name a model elsewhere.",
            (
                JobField("folder", "Folder, or the zip of a Google Takeout", "folder"),
                JobField("embedder", "Find pictures by what they show", "embedder"),
                JobField(
                    "metadata",
                    "Lightroom catalogue or metadata table",
                    "text",
                    "--metadata",
                    hint="optional, such as /home/ana/Catalog.lrcat",
                    is_needed=False,
                ),
            ),
            "Add them",
        ),
        JobForm(
            "index",
            "Bring the index up to date",
            "Embeds what is new or changed, or everything with another embedder.",
            (JobField("embedder", "Embedder", "embedder", "--embedder"),),
        ),
        JobForm(
            "make",
            "Make a benchmark",
            "Writes queries about the pictures of a folder, and has candidates judged. You are told the cost first.",
            (
                JobField("folder", "Folder", "folder"),
                JobField("name", "Name", "name", "--out", "benchmark"),
                _MODEL,
                _BUDGET,
            ),
            "Estimate the cost",
            plan_first=True,
        ),
        JobForm(
            "run",
            "Run a system",
            "Has a system answer the tasks of a benchmark.",
            (
                JobField("benchmark", "Benchmark", "benchmark"),
                JobField(
                    "system",
                    "System",
                    "text",
                    "--system",
                    "retriever",
                    "retriever, hybrid, chat:model=…, agent:model=…",
                ),
                JobField("name", "Name", "name", "--out", "retriever"),
                _BUDGET,
            ),
            "Estimate the cost",
            plan_first=True,
        ),
        JobForm("score", "Score a run", "Scores a run on its benchmark.", (JobField("run", "Run", "run"),)),
        JobForm(
            "compare",
            "Compare two runs",
            "Says which is better, by how much, and whether that can be trusted.",
            (
                JobField("run", "First run", "run"),
                JobField("other", "Second run", "run"),
                JobField(
                    "rehearsal", "Although nobody checked the labels", "flag", "--rehearsal", "1", is_needed=False
                ),
            ),
        ),
        JobForm(
            "report",
            "Write a report",
            "One page over all runs and benchmarks.",
            (JobField("name", "Name", "name", "--out", "report"),),
        ),
    )
}


def listing(request: Request) -> Response:
    """All jobs, and the forms that start one."""
    return _listed(request, request.query_params)


def _listed(request: Request, given: Mapping[str, str], wrong: str = "") -> Response:
    """The same with a form as it was filled in, and what is wrong with that."""
    state = AppState.of(request)
    state.library.refresh()
    chosen = given.get("verb", "")
    return state.show(
        request,
        "jobs.html",
        status=400 if wrong else 200,
        statuses=state.jobs.all()[:_SHOWN],
        forms=FORMS.values(),
        chosen=chosen if chosen in FORMS else "",
        given=given,
        wrong=wrong,
        may=_may(state),
        **choices(state),
    )


def choices(state: AppState) -> dict[str, Any]:
    """What the forms let one choose from, and where the app shows what a job made."""
    corpus = state.library.corpus
    return {
        "made": lambda job: _made(state, job),
        "embedders": list(_prices(0 if corpus is None else corpus.total())),
        "roots": [] if corpus is None else _roots(corpus.store),
        "benchmarks": list(state.library.places.benchmarks),
        "runs": list(state.library.places.runs),
    }


def _made(state: AppState, job: Job) -> str:
    """The page of what a job that is done has made; empty where there is none."""
    places = state.library.places
    out = next((part.removeprefix("--out=") for part in job.arguments if part.startswith("--out=")), job.arguments[-1])
    if job.is_plan or job.verb == "compare":
        return ""
    if job.verb in ("make", "run", "score"):
        path, found = ("/bench", places.benchmarks) if job.verb == "make" else ("/runs", places.runs)
        name = next((name for name, folder in found.items() if folder.is_relative_to(out)), None)
        return "" if name is None else f"{path}/{name}"
    return f"/report/{Path(out).stem}" if job.verb == "report" else "/search"


def report(request: Request) -> Response:
    """A report that a job wrote."""
    workspace, name = AppState.of(request).jobs.workspace, request.path_params["name"]
    path = None if workspace is None or _NAME.fullmatch(name) is None else workspace / "reports" / f"{name}.html"
    if path is None or not path.is_file():
        raise missing("such report")
    return HTMLResponse(path.read_bytes(), headers={"content-security-policy": EXPORT_POLICY})


def start(request: Request, fields: Mapping[str, str]) -> Response:
    """Start a job, or do something with one that is there."""
    state = AppState.of(request)
    if not _may(state):
        raise HTTPException(403, "Jobs are started only on the machine that the app runs on.")
    jobs, id_, action = state.jobs, fields.get("id", ""), fields.get("action", "")
    if action == "pause":
        jobs.end(id_, "paused")
    elif action == "stop":
        jobs.end(id_, "stopped")
    elif action == "again":
        jobs.again(id_)
    elif action == "forget":
        jobs.forget(id_)
    elif action == "confirm":
        planned = jobs.find(id_)
        if planned is None:
            raise missing("such job")
        jobs.start([part for part in planned.job.arguments if part != "--plan"])
        jobs.forget(id_)
    else:
        form = FORMS.get(fields.get("verb", ""))
        if form is None:
            raise missing("such job")
        try:
            arguments = [form.verb, *_arguments(state, form, fields)]
        except UserError as error:  # On the page that was filled in, with the paths that were typed.
            return _listed(request, fields, str(error))
        jobs.start([*arguments, *(["--plan"] if form.plan_first else [])], _then(form, fields))
    return go("/" if fields.get("back") == "home" else "/jobs")


def folders(request: Request) -> Response:
    """The folders of this machine that begin as was typed, for a field that completes paths."""
    if not _may(AppState.of(request)):
        raise HTTPException(403, "Folders are listed only on the machine that the app runs on.")
    text = request.query_params.get("path") or "~/"
    typed = Path(text).expanduser()
    above, start = (typed, "") if text.endswith("/") else (typed.parent, typed.name.lower())
    ending = _ARCHIVE if request.query_params.get("archives") else ()
    return JSONResponse([path for path in _below(above, ending) if Path(path).name.lower().startswith(start)][:_SHOWN])


def _below(folder: Path, ending: str | tuple[()]) -> list[str]:
    """The folders in a folder, with a slash, and the files of an ending."""
    try:
        with os.scandir(folder) as entries:
            shown = [entry for entry in entries if not entry.name.startswith(".")]
            found = [f"{entry.path}/" for entry in shown if entry.is_dir()]
            found += [entry.path for entry in shown if entry.name.lower().endswith(ending) and entry.is_file()]
    except OSError:
        return []
    return sorted(found)


def _may(state: AppState) -> bool:
    """Only whoever sits at this machine chooses folders of it and starts commands on it."""
    return state.guard.token is None and state.jobs.workspace is not None


# -- forms


def _arguments(state: AppState, form: JobForm, fields: Mapping[str, str]) -> Iterator[str]:
    for each in form.fields:
        value = fields.get(each.name, "").strip()
        if not value and each.is_needed:
            raise UserError(f"{each.label} is missing.", "Fill it in.")
        if value and (each.option or each.kind != "embedder"):
            yield from _argument(state, form, each, value)
    if form.verb == "report":
        places = state.library.places
        yield from map(str, (*places.runs.values(), *places.benchmarks.values()))


def _argument(state: AppState, form: JobForm, each: JobField, value: str) -> Iterable[str]:
    places = state.library.places
    if each.kind in ("text", "flag"):
        return [each.option if each.kind == "flag" else f"{each.option}={value}"]
    if each.kind == "embedder":
        return ["--no-vectors"] if value == _WORDS_ONLY else [f"{each.option}={value}"]
    if each.kind == "name":
        return [f"{each.option}={_place(state, form, value)}"]
    if each.kind == "folder":
        return [str(_folder(value, form.verb == "scan"))]
    found = (places.benchmarks if each.kind == "benchmark" else places.runs).get(value)
    if found is None:
        raise missing(f"such {each.kind}")
    if form.verb not in ("score", "compare") or each.name != "run":
        return [str(found)]
    run = read_run(found)
    loaded = state.library.benchmark_of(run.benchmark, run.benchmark_checksum)
    if loaded is None:
        raise UserError(f"The benchmark of {value} was not found.", "Open the app on its folder, too.")
    return [str(loaded.folder), str(found)] if form.verb == "score" else [str(found), f"--benchmark={loaded.folder}"]


def _folder(value: str, may_be_archive: bool) -> Path:
    folder = Path(value).expanduser()
    is_archive = may_be_archive and folder.suffix.lower() == _ARCHIVE and folder.is_file()
    if not folder.is_absolute() or not (folder.is_dir() or is_archive):
        raise UserError(f"There is no folder {value}.", "Give its whole path, such as /home/ana/Pictures.")
    return folder


def _place(state: AppState, form: JobForm, name: str) -> Path:
    """Below the workspace, where the app finds it."""
    if _NAME.fullmatch(name) is None:
        raise UserError(f'"{name}" can\'t be used as a name.', "Use letters, digits, - and _.")
    assert state.jobs.workspace is not None
    folder = {"make": "projects", "run": "runs", "report": "reports"}[form.verb]
    return state.jobs.workspace / folder / (f"{name}.html" if form.verb == "report" else name)


def _then(form: JobForm, fields: Mapping[str, str]) -> list[str]:
    """Pictures that are added are indexed, too."""
    chosen = fields.get("embedder") or DEFAULT
    if form.verb != "scan":
        return []
    return ["index", "--no-vectors" if chosen == _WORDS_ONLY else f"--embedder={chosen}"]


def _prices(count: int) -> Iterator[tuple[str, str]]:
    """Each embedder, and what it takes in time, memory and downloads."""
    many = count or _MANY
    for name in (DEFAULT, *(known for known in KNOWN if known in _NUMBERS)):
        # Vectors are kept twice: in the workspace, where they are never made again, and in the index.
        parts = [f"{2 * 4 * _NUMBERS[name] * many / 1e6:,.0f} MB"]
        if name in _PER_PICTURE:
            parts.insert(0, f"about {seconds(_PER_PICTURE[name] * many / cores())}")
        else:
            parts.append(f"after a download of {KNOWN[name].size / 1e6:,.0f} MB (time not measured)")
        built_in = "built in, " if name == DEFAULT else ""
        yield name, f"{name}: {built_in}for {many:,} pictures {', '.join(parts)}"
    yield _WORDS_ONLY, "none: by names, tags, time and place alone; seconds"


def _roots(store: CorpusStore) -> list[str]:
    return [str(root.path) for root in store.roots()]
