"""What of a question is needed: the same model without words, without pictures, with one, or with them mixed up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from sightline.benchmark.folder import read_benchmark
from sightline.calls.plan import CostPlan, DryRunError, StagePlan, dry_run, priced
from sightline.calls.session import Session
from sightline.display import Table
from sightline.english import counted
from sightline.errors import UserError, require_at_least
from sightline.io.files import PathLike, as_path, optional_path
from sightline.metrics.comparison import Comparison, PairedComparison, compare
from sightline.metrics.evaluation import evaluate
from sightline.metrics.statistics.significance import holm
from sightline.retrieval.index.content import absolute
from sightline.runs.folder import read_run
from sightline.runs.integrity import keep_scores
from sightline.runs.runner import run
from sightline.runs.system_spec import Spec, make_spec
from sightline.runs.systems.base import find_kind
from sightline.types import Benchmark, Run, Task, TaskKind

WHOLE = "whole"
ARMS: Mapping[str, Mapping[str, bool]] = {
    "without text": {"no_text": True},
    "without pictures": {"no_image": True},
    "one picture": {"one_image": True},
    "shuffled pictures": {"shuffle_images": True},
}
"""What each arm changes of the system `chat`; they are compared with the whole question."""
_ANSWERED: frozenset[TaskKind] = frozenset(("choose", "answer", "describe"))
"""The kinds of task that `chat` does."""
_FEW = 100
"""Resamples of intervals that nobody reads."""


@dataclass(frozen=True, slots=True)
class AblationTasks:
    """The benchmark with only the tasks that `metric` scores; `metrics` are all that score any of them."""

    benchmark: Benchmark
    metric: str
    metrics: tuple[str, ...]
    unscored: int

    def notes(self) -> tuple[str, ...]:
        """How many are left out, if any are."""
        if not self.unscored:
            return ()
        return (f"not scored by {self.metric}, and so not asked: {counted(self.unscored, 'task')}",)


@dataclass(frozen=True, slots=True, repr=False)
class Necessity(Table[PairedComparison]):
    """A comparison whose first system saw the whole question; all is of the tasks that were asked.

    `chance` is what guessing gets, None without options.
    """

    folder: Path
    comparison: Comparison
    metric: str
    chance: float | None
    several: int
    "Tasks with two pictures or more, for which one picture and another order are something else."
    unscored: int
    "Tasks that the metric does not score: they were not asked."
    notes: tuple[str, ...]

    def against_whole(self) -> tuple[PairedComparison, ...]:
        """Each arm less the whole question, in the order of the arms; p is adjusted (Holm) over these alone."""
        pairs = [pair for pair in self.comparison.of(self.metric) if pair.first == WHOLE]
        adjusted = holm([1.0 if pair.difference.p is None else pair.difference.p for pair in pairs])
        return tuple(replace(pair, p_adjusted=p) for pair, p in zip(pairs, adjusted, strict=True))

    @property
    def above_chance(self) -> bool:
        """Is the model better than guessing on the whole question? Otherwise nothing can be missed."""
        whole = next(one for one in self.comparison.standings[self.metric] if one.system == WHOLE)
        return self.chance is None or whole.estimate.low > self.chance

    def is_needed(self, arm: str) -> bool:
        """Is the arm worse than the whole question, and not by chance?"""
        pairs = (pair for pair in self.against_whole() if pair.second == arm)
        return any(pair.difference.mean < 0 and pair.significant(self.comparison.level) for pair in pairs)

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "folder": str(self.folder),
            "metric": self.metric,
            "chance": self.chance,
            "above_chance": self.above_chance,
            "several_pictures": self.several,
            "not_scored": self.unscored,
            "arms": {standing.system: asdict(standing.estimate) for standing in self.comparison.standings[self.metric]},
            "against_whole": {pair.second: asdict(pair) for pair in self.against_whole()},
            "needed": {pair.second: self.is_needed(pair.second) for pair in self.against_whole()},
            "notes": list(self.notes),
        }

    def records(self) -> list[dict[str, Any]]:
        """One flat record for each arm: its mean and interval, and its difference from the whole question."""
        pairs = {pair.second: pair for pair in self.against_whole()}
        return [
            {
                "arm": one.system,
                "mean": one.estimate.mean,
                "low": one.estimate.low,
                "high": one.estimate.high,
                "difference": pairs[one.system].difference.mean if one.system in pairs else None,
                "p_adjusted": pairs[one.system].p_adjusted if one.system in pairs else None,
                "needed": self.is_needed(one.system) if one.system in pairs else None,
            }
            for one in self.comparison.standings[self.metric]
        ]

    def _rows(self) -> Sequence[PairedComparison]:
        return self.against_whole()

    def _line(self) -> str:
        needed = [pair.second for pair in self.against_whole() if self.is_needed(pair.second)]
        return f"{self.metric} is worse {', '.join(needed) or 'in no arm'}"

    def __str__(self) -> str:
        """Each arm with its estimate, its difference from the whole question, and whether that can be trusted."""
        standings = {standing.system: standing.estimate for standing in self.comparison.standings[self.metric]}
        differences = {pair.second: self._told(pair) for pair in self.against_whole()}
        width = max(map(len, standings))
        lines = []
        for name in self.comparison.systems:
            own = standings[name]
            line = f"  {name:<{width}}  {self.metric} {own:.2f}"
            lines.append(line + differences.get(name, ""))
        if self.chance is not None:
            lines.append(f"  {'guessing':<{width}}  {self.metric} {self.chance:.2f}")
        if not self.above_chance:
            lines.append("  the model does no better than guessing: this says nothing about the questions")
        n = standings[self.comparison.systems[0]].n
        lines += [f"  {n:,} tasks, {self.several:,} of them with several pictures in the question"]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join([*lines, f"  → {self.folder}"])

    def _told(self, pair: PairedComparison) -> str:
        """The difference of an arm from the whole question."""
        found = pair.difference
        verdict = "needed" if self.is_needed(pair.second) else "not shown to be needed"
        spread = found.no_interval or f"{found.low:+.2f}, {found.high:+.2f}"
        return f"   {found.mean:+.2f} [{spread}]  {pair.p_text()}  {verdict}"


@priced
def ablate(
    benchmark: PathLike,
    out: PathLike | None = None,
    *,
    model: str,
    without: str | Sequence[str] | None = None,
    repeat: int = 1,
    concurrency: int = 4,
    max_tokens: int | None = None,
    temperature: float | None = None,
    reasoning_effort: str | None = None,
    limit: int | None = None,
    seed: int | None = None,
    workspace: PathLike | None = None,
    session: Session | None = None,
) -> Necessity:
    """Test which parts of the questions are needed: text, pictures, several of them, their order.

    The same model answers the whole question and each ablation, and the runs are compared. Run it again to resume.

    Parameters
    ----------
    benchmark:
        The folder of the benchmark.
    out:
        A folder that gets a run for the whole question and one for each ablation; only a dry run needs none.
    model:
        The model that answers, such as "openai/gpt-5-mini".
    without:
        The ablations: "without text", "without pictures", "one picture", "shuffled pictures"; all when not given.
    repeat:
        How often each task is tried.
    concurrency:
        How many tasks at once.
    max_tokens, temperature, reasoning_effort:
        Fields of every request.
    limit:
        Take only the first tasks.
    seed:
        Makes random choices repeatable, and is a field of every request.
    workspace, session:
        Where to work and how to call models; see `Session`.

    Returns
    -------
    Necessity
        The comparison of each ablation with the whole question; `print` shows what the command prints.

    Examples
    --------
    >>> import sightline
    >>> plan = sightline.dry_run(
    ...     sightline.ablate, "questions", model="openai/gpt-5-mini", without="without pictures", workspace="ws"
    ... )
    >>> {stage.stage: stage.calls for stage in plan.stages}
    {'whole': 4, 'without pictures': 4}
    """
    session = Session.of(session, workspace)
    require_at_least(1, repeat=repeat, concurrency=concurrency, limit=limit, max_tokens=max_tokens)
    require_at_least(0, temperature=temperature, seed=seed)
    seed = session.seed if seed is None else seed
    asked = {
        "max_tokens": max_tokens,
        "temperature": temperature,
        "reasoning_effort": reasoning_effort,
        "seed": seed,
        "base_url": session.calls.base_url,
    }
    options = {**{name: value for name, value in asked.items() if value is not None}, "concurrency": concurrency}
    arms = (without,) if isinstance(without, str) else tuple(without or ARMS)
    source, place = as_path(benchmark, "a benchmark"), optional_path(out, "the folder to write")
    ablations = Ablations(source, model, options, arms, repeat, seed or 0, limit, session)
    if session.calls.plan:
        raise DryRunError(ablations.price(place))
    if place is None:
        raise UserError("there is no place for the runs.", "say where: --out FOLDER")
    return ablations.run(place)


@dataclass(frozen=True, slots=True)
class Ablations:
    """The system `chat` on the whole question and on each arm; `options` are further options of `chat`."""

    source: Path
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    arms: Sequence[str] = tuple(ARMS)
    repeat: int = 1
    seed: int = 0
    limit: int | None = None
    session: Session = field(default_factory=Session)

    def run(self, out: Path) -> Necessity:
        """Run, score and compare; each arm is a run below `out`. Run it again to go on: nothing is done twice."""
        specs = self._specs()
        _check_place(out)
        asked = self.asked()
        tasks = dict(islice(asked.benchmark.tasks.items(), self.limit))
        benchmark = replace(asked.benchmark, tasks=tasks)
        scores = []
        for name, spec in specs.items():
            folder = _folder(out, name)
            run(asked.benchmark, spec, folder, **self._how())
            made = read_run(folder)
            kept = tuple(attempt for attempt in made.attempts if attempt.task_id in tasks)
            scored = evaluate(benchmark, replace(made, attempts=kept), asked.metrics, seed=self.seed)
            if self.limit is None and not asked.unscored:
                keep_scores(scored, folder)
            scores.append(scored)
        comparison = compare(scores, allow_failures_differ=True, seed=self.seed)
        return Necessity(
            out,
            comparison,
            asked.metric,
            _chance(tasks.values()),
            several=sum(len(task.pictures) > 1 for task in tasks.values()),
            unscored=asked.unscored,
            notes=(*asked.notes(), *comparison.notes),
        )

    def price(self, out: Path | None = None) -> CostPlan:
        """What `run` would take, a line for each arm; nobody is asked."""
        stages: list[StagePlan] = []
        specs, asked = self._specs(), self.asked()
        for name, spec in specs.items():
            plan = dry_run(run, asked.benchmark, spec, None if out is None else _folder(out, name), **self._how())
            stages += (replace(stage, stage=name) for stage in plan.stages)
        return CostPlan(tuple(stages), asked.notes())

    def asked(self) -> AblationTasks:
        """What there is to ask: the tasks of the metric that scores the most of them."""
        whole = read_benchmark(self.source)
        nobody = evaluate(whole, Run(whole.name, "nobody", ()), resamples=_FEW)
        scored = {
            name: [row.task_id for row in nobody.tasks if row.values.get(name) is not None and row.kind in _ANSWERED]
            for name in nobody.metrics
        }
        metric = max(scored, key=lambda name: len(scored[name]), default="")  # The first of equals.
        names = scored.get(metric, [])
        if not names:
            raise UserError(
                f'no task of "{whole.name}" can be asked and scored.',
                "give a benchmark of choose, answer or describe tasks whose truth is known",
            )
        known = {name: absolute(picture, self.source) for name, picture in whole.corpus.pictures.items()}
        return AblationTasks(
            replace(
                whole,
                corpus=replace(whole.corpus, pictures=known),
                tasks={name: whole.tasks[name] for name in names},
            ),
            metric,
            tuple(name for name, tasks in scored.items() if not {*tasks}.isdisjoint(names)),
            len(whole.tasks) - len(names),
        )

    def _how(self) -> dict[str, Any]:
        return {"repeat": self.repeat, "seed": self.seed, "limit": self.limit, "session": self.session}

    def _specs(self) -> dict[str, Spec]:
        """The system of the whole question, and that of each arm."""
        unknown = next((arm for arm in self.arms if arm not in ARMS), None)
        if unknown is not None:
            raise UserError(f'there is no ablation "{unknown}".', f"choose from {', '.join(ARMS)}")
        kind, told = find_kind("chat"), {**self.options, "model": self.model}
        return {name: make_spec(kind, {**told, "name": name, **ARMS.get(name, {})}) for name in (WHOLE, *self.arms)}


def _folder(out: Path, arm: str) -> Path:
    return out / arm.replace(" ", "-")


def _check_place(out: Path) -> None:
    """Only nothing, or a folder of such runs: five of them in a benchmark would be taken for parts of it."""
    known = {_folder(out, arm).name for arm in (WHOLE, *ARMS)}
    other = sorted(entry.name for entry in out.iterdir() if entry.name not in known) if out.is_dir() else []
    if other:
        raise UserError(f"{out} holds other things ({other[0]}).", "choose a folder of its own for the runs: --out")


def _chance(tasks: Collection[Task]) -> float | None:
    """What guessing gets where all tasks have options."""
    shares = [1 / len(task.options) for task in tasks if task.options]
    return sum(shares) / len(shares) if len(shares) == len(tasks) else None
