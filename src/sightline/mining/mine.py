"""The verbs `mine` and `mine_questions`: a photo history becomes requests, and single pictures become questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from sightline.agent.web import FROZEN, Web, offline_web, open_web
from sightline.calls.plan import DryRunError, priced
from sightline.calls.session import Session, require_model
from sightline.config import Config
from sightline.corpus.view import open_corpus
from sightline.display import Shown, Table
from sightline.english import counted
from sightline.errors import StoppedError, UserError, require_at_least, require_one_of
from sightline.io.files import PathLike, as_path, optional_path
from sightline.mining import questions
from sightline.mining.benchmark import QUESTIONS, check_mining_place
from sightline.mining.model_calls import Bill, billed, told_failures
from sightline.mining.pipeline import STAGES, Mining, MiningResult, StageName
from sightline.mining.project import PRESETS, MiningFiles, MiningSettings
from sightline.mining.project import QUESTIONS as QUESTIONS_FILE
from sightline.models.built_in import find_built_in
from sightline.models.protocols import Embedder
from sightline.types import Benchmark

TEMPLATES = "templates"
"""The writer that is no model."""


@dataclass(frozen=True, slots=True, repr=False)
class MiningSummary(Table[MiningResult]):
    """What the stages did that were run, and the benchmark, where one was written."""

    stages: tuple[MiningResult, ...]
    benchmark: Benchmark | None = None
    out: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints."""
        found: dict[str, Any] = {"stages": [done.to_json() for done in self.stages]} if self.stages else {}
        if self.benchmark is not None:
            found |= {"tasks": len(self.benchmark.tasks), "out": str(self.out)}
        return found

    def records(self) -> list[dict[str, Any]]:
        """One flat record for each stage: money, replies reused, failures, seconds."""
        return [
            {"stage": one.stage, **one.bill.to_json(), "failed": sum(one.failures.values()), "seconds": one.seconds}
            for one in self.stages
        ]

    def _rows(self) -> Sequence[MiningResult]:
        return self.stages

    def _line(self) -> str:
        tasks = "" if self.benchmark is None else f", {counted(len(self.benchmark.tasks), 'request')}"
        return f"{counted(len(self.stages), 'stage')}{tasks}"

    def __str__(self) -> str:
        """The stages, how many requests there are, and what comes next."""
        lines = [str(done) for done in self.stages]
        if self.benchmark is not None:
            retained: Any = self.benchmark.card["retention"]
            left = retained["benchmark"]["not taken"]
            more = f" ({left:,} more passed the checks)" if left else ""
            lines.append(f"  {counted(len(self.benchmark.tasks), 'request')} → {self.out}{more}")
            lines.append(f"  next: have people review them: sightline view {self.out}")
        return "\n".join(lines)


@priced
def mine(
    out: PathLike | None = None,
    *,
    model: str | None = None,
    stages: StageName | Sequence[StageName] | None = None,
    embedder: str | Embedder | None = None,
    owners: str | Sequence[str] = (),
    preset: Literal["gentle", "disbench"] | None = None,
    cap: int | None = None,
    queries: int | None = None,
    writer: str | None = None,
    clues: int | None = None,
    retrieval_bound: float | None = None,
    metadata_bound: float | None = None,
    project: PathLike | None = None,
    seed: int | None = None,
    progress: Callable[[MiningResult], None] | None = None,
    workspace: PathLike | None = None,
    session: Session | None = None,
) -> MiningSummary:
    """Mine photo histories for requests that need their context. Run it again to resume after a stop.

    Parameters
    ----------
    out:
        The folder of the benchmark; none is written when it is not given, which needs `stages`.
    model:
        The model that looks at the pictures; the configured one when not given, and that of the project when later
        stages are run alone.
    stages:
        Only these of "parse", "associate", "graph", "queries" and "check", which share a project; all when not given,
        and with `()` only the benchmark is written from what passed the checks.
    embedder:
        The embedder that finds similar pictures; the configured one, or that of a built-in model, when not given.
    owners:
        Whose histories, in a list or separated by commas; everybody's when not given.
    preset:
        Which owners have enough of a history: "gentle", or "disbench": 2,000 pictures, 50 events, 90 % metadata and
        more than a year.
    cap:
        Pictures of one owner at most, in whole events; 2,000 when not given.
    queries:
        Requests that are kept at most, 50 when not given; three times as many are drafted.
    writer:
        What writes the requests: a model, or "templates"; the model itself when not given, templates for a built-in
        one.
    clues:
        Clues of a picture that are followed to others, the rarest first; 4 when not given.
    retrieval_bound:
        Reject requests for which direct retrieval reaches this F1 at any cut-off; 0.8 when not given.
    metadata_bound:
        Reject requests for which one filter on time or place reaches this F1; 0.9 when not given.
    project:
        Where the stages keep their files; WORKSPACE/mine when not given.
    seed:
        Makes random choices repeatable.
    progress:
        Called with the result of each stage when it is done.
    workspace, session:
        A scanned workspace, and how to call models; see `Session`.

    Returns
    -------
    MiningSummary
        What the stages did, and the benchmark; `print` shows what the command prints.

    Examples
    --------
    >>> import sightline
    >>> plan = sightline.dry_run(sightline.mine, model="openai/gpt-5-mini", queries=10, workspace="history")
    >>> {stage.stage: stage.calls for stage in plan.stages}
    {'mine-parse': 50, 'mine-associate': 200, 'mine-queries': 10, 'mine-check': 60}
    """
    session = Session.of(session, workspace)
    chosen = _stages(stages)
    require_one_of(PRESETS, preset=preset)
    require_at_least(1, cap=cap, queries=queries, clues=clues)
    require_at_least(0, retrieval_bound=retrieval_bound, metadata_bound=metadata_bound, seed=seed)
    folder = optional_path(project, "a mining project") or session.workspace / "mine"
    place, plans = optional_path(out, "the folder to write"), session.calls.plan
    # A stage that goes on with a project is as the ones before, but for what is given.
    goes_on = "parse" not in chosen and not plans
    settings = _as_before(folder, model, session.config) if goes_on else _by(model, session.config)
    rules = settings.rules if preset is None else PRESETS[preset]
    given: dict[str, Any] = {
        "embedder": embedder if isinstance(embedder, str) else None,
        "owners": _names(owners) or None,
        "queries": queries,
        "seed": session.seed if seed is None else seed,
        "clues": clues,
        "retrieval_bound": retrieval_bound,
        "metadata_bound": metadata_bound,
        "rules": rules if cap is None else replace(rules, cap=cap),
    }
    settings = replace(settings, **{name: value for name, value in given.items() if value is not None})
    if writer is not None:
        settings = replace(settings, writer=None if writer == TEMPLATES else writer)
    opened = None if isinstance(embedder, str) else embedder
    mining = Mining(session, folder, settings, opened)
    if plans:
        raise DryRunError(mining.plan())
    if place is None and stages is None:
        raise UserError("No folder is given for the benchmark.", "Give one: --out BENCH.")
    return _mined(mining, chosen, place, progress)


def _mined(
    mining: Mining, stages: Sequence[StageName], out: Path | None, progress: Callable[[MiningResult], None] | None
) -> MiningSummary:
    results: list[MiningResult] = []

    def tell(done: MiningResult) -> None:
        results.append(done)
        if progress is not None:
            progress(done)

    if out is not None and tuple(stages) == STAGES:
        benchmark = mining.run_all(out, tell)
        return MiningSummary(tuple(results), benchmark, out)
    for number, stage in enumerate(stages, 1):
        done = mining.run(stage)
        tell(done)
        if number < len(stages) or out is not None:
            done.raise_if_nothing()
    return MiningSummary(tuple(results), None if out is None else mining.assemble(out), out)


def _stages(given: StageName | Sequence[StageName] | None) -> tuple[StageName, ...]:
    """The stages in the order of the flow."""
    if given is None:
        return STAGES
    names: Sequence[StageName] = (given,) if isinstance(given, str) else given
    for name in names:
        require_one_of(STAGES, stages=name)
    return tuple(stage for stage in STAGES if stage in names)


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    """`"a, b"` or a list → the names."""
    names = given.split(",") if isinstance(given, str) else given
    return tuple(name.strip() for name in names if name.strip())


def _as_before(folder: Path, model: str | None, config: Config) -> MiningSettings:
    """The settings of a project, by another model where one is given."""
    settings = MiningFiles(folder).settings()
    if model in (None, settings.model):
        return settings
    other = _by(model, config)
    return replace(settings, model=other.model, writer=other.writer, confirm=other.confirm)


def _by(model: str | None, config: Config) -> MiningSettings:
    """How a model mines when nothing else is said."""
    name = require_model(model or config.annotate.model)
    declared = find_built_in(name)
    if declared is None:
        return MiningSettings(name, writer=name)
    writer = name if declared.words_queries else None
    embedder = config.models.embedder or declared.embedder
    return MiningSettings(name, embedder=embedder, writer=writer, confirm=declared.confirms)


@dataclass(frozen=True, slots=True, repr=False)
class QuestionsSummary(Shown):
    """What became of the names that questions start from, and the benchmark of those that were kept."""

    benchmark: Benchmark
    out: Path
    counts: Mapping[str, int]
    failures: Mapping[str, int]
    bill: Bill
    stopped: StoppedError | None = None
    "What ended the work early, if anything did (a budget, a server that is down); what is here is valid."

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints."""
        told = {"counts": dict(self.counts), "failures": dict(self.failures), **self.bill.to_json()}
        return {"tasks": len(self.benchmark.tasks), **told, "out": str(self.out)}

    def _line(self) -> str:
        early = ", stopped early" if self.stopped is not None else ""
        return f"{counted(len(self.benchmark.tasks), 'question')}{early}"

    def __str__(self) -> str:
        """What was kept and refused, what it cost, and where the questions are."""
        counts = ", ".join(f"{name} {number:,}" for name, number in self.counts.items())
        kept = f"{counted(len(self.benchmark.tasks), 'question')} → {self.out}"
        return "\n".join(f"  {line}" for line in (f"{counts} · {self.bill}", *told_failures(self.failures), kept))


@priced
def mine_questions(
    out: PathLike | None = None,
    *,
    web: str,
    model: str | None = None,
    count: int = 20,
    hops: int = 5,
    tries: int = 3,
    limit: int | None = None,
    seed: int | None = None,
    workspace: PathLike | None = None,
    session: Session | None = None,
) -> QuestionsSummary:
    """Mine questions about single pictures: chains of facts on the web, with a picture of a page on the way.

    Parameters
    ----------
    out:
        The folder of the benchmark; only a dry run needs none.
    web:
        Which web: searxng:URL, serper, brave, serpapi, index:URL, mcp:…, frozen:RUN, or world:FOLDER (synthetic).
    model:
        The model that looks and is asked; the configured one when not given.
    count:
        Questions that are kept at most.
    hops:
        Facts of a chain at most, 3 to 8.
    tries:
        How often the model is asked without the picture, and without search; one right answer refuses a question.
    limit:
        Take only the first pictures.
    seed:
        Makes random choices repeatable.
    workspace, session:
        A scanned workspace, and how to call models; see `Session`.

    Returns
    -------
    QuestionsSummary
        What was kept and refused; `print` shows what the command prints. `stopped` says what ended the work early.

    Examples
    --------
    >>> import sightline
    >>> plan = sightline.dry_run(
    ...     sightline.mine_questions, web="frozen:pages.jsonl", model="openai/gpt-5-mini", workspace="ws"
    ... )
    >>> [stage.calls for stage in plan.stages]
    [6, 120]
    """
    session = Session.of(session, workspace)
    require_at_least(1, count=count, tries=tries, limit=limit)
    require_at_least(3, hops=hops)
    place, name = session.workspace, require_model(model or session.config.annotate.model)
    scanned = open_corpus(place).pictures
    pictures = dict(islice(((each.id, each) for each in scanned.values()), limit))
    seed = (session.seed or 0) if seed is None else seed
    settings = questions.QuestionSettings(name, count, hops, tries, seed)
    if session.calls.plan:
        raise DryRunError(questions.plan_questions(list(pictures.values()), settings, session))
    if out is None:
        raise UserError("No folder is given for the benchmark.", "Give one: --out BENCH.")
    target = as_path(out, "the folder to write")
    check_mining_place(target, QUESTIONS, scanned)
    opened = _web(web, session)
    with billed(place) as bill:
        found = questions.starts(list(pictures.values()), name, session, seed)
        mined = questions.follow_clues(found.clues, pictures, opened, settings, session)
    MiningFiles(place / "mine").write(QUESTIONS_FILE, mined.questions)
    failures = Counter(found.failures) + Counter(mined.failures)
    card = {"mined_by": name, "web": web.partition(":")[0]}
    benchmark = questions.write_questions(target, mined, pictures, count, card, copied=_web_files(web))
    return QuestionsSummary(benchmark, target, mined.counts, failures, bill, mined.stopped)


def _web(spec: str, session: Session) -> Web:
    """A web by its address, with what was seen kept in the workspace; or one that lies in a folder."""
    kind, _, folder = spec.partition(":")
    offline = offline_web(kind)
    if offline is not None:
        return offline.of_folder(folder)
    return open_web(spec, freeze=session.workspace / FROZEN, local_only=session.calls.local_only)


def _web_files(spec: str) -> Mapping[str, Path]:
    """What of a web has to lie with the benchmark, so that agents find it there by its name."""
    kind, _, folder = spec.partition(":")
    offline = offline_web(kind)
    return {} if offline is None else offline.files(folder)
