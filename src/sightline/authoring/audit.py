"""The stage `audit`: what a benchmark is worth, as JSON for the card and as text for the reader.

Shortcuts, near-duplicates, lopsided queries, drifting judges, checked labels: what was found, and what of it should be
mended before anybody trusts a score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sightline.authoring import project as files
from sightline.authoring.assemble import assemble
from sightline.authoring.audit_pools import LookAlikeReport, WeakQueries, find_look_alikes, find_weak_queries
from sightline.authoring.judge_quality import JudgeDrift, JudgeQuality, find_drift, judge_quality
from sightline.authoring.judge_verdicts import GOOD_ALPHA, JudgeVerdict
from sightline.authoring.project import Project
from sightline.authoring.stage import StageResult, free_plan
from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.label_quality import CheckedLabels, LabelQuality, check_labels, no_interval
from sightline.english import counted, some
from sightline.io.files import write_whole
from sightline.io.jsonl import write_json
from sightline.runs.blind_baselines import LEARNED, SHORTCUTS, Baseline, blind_baselines
from sightline.runs.shortcuts.facts import CorpusFiles, read_files
from sightline.runs.shortcuts.report import (
    ShortcutReport,
    learn_shortcut,
    shortcut_lines,
    shortcut_problem,
    shortcut_summary,
)
from sightline.types import Benchmark, Estimate, PictureSet, Relevance

_SHOWN = 5
SOLVED = 0.1
"""A larger share of queries than this, above what chance solves, is a problem if a shortcut solves it."""


def people_summary(checked: CheckedLabels, judges: Sequence[JudgeQuality]) -> dict[str, Any]:
    """The fields of a card's `audit` that reviews decide.

    `label_quality` is the share of right labels; `relevant_by_people` the share of all judged pictures that is relevant
    by what people found, in place of what the labels say. `judges` are calibrated against people.
    """
    main = checked.main
    pictures = checked.labels or checked.sets
    return {
        "label_quality": None if main is None else asdict(main.right),
        "labels_checked": 0 if main is None else main.checked,
        "checked": {
            name: {"right": asdict(found.right), "checked": found.checked, "of": found.labels, "people": found.people}
            for name, found in checked.named().items()
        },
        "sets_exact": None if checked.exact is None else asdict(checked.exact),
        "relevant_by_people": None if pictures is None else asdict(pictures.truly_relevant),
        "queries_reviewed": None if checked.queries is None else asdict(checked.queries),
        "judges": {
            judge.judge: {
                "checked": judge.checked,
                **asdict(judge.rates),
                "relevant_by_grade": {grade: asdict(one) for grade, one in judge.by_grade.items()},
            }
            for judge in judges
        },
    }


def people_lines(checked: CheckedLabels, judges: Sequence[JudgeQuality]) -> Iterator[str]:
    """For a terminal; nothing where nobody has looked."""
    for name, found in checked.named().items():
        yield from _quality_lines(name, found)
    if checked.exact is not None:
        yield f"Sets that are right as a whole: {worded(checked.exact)}, n={checked.exact.n:,}"
    if checked.queries is not None:
        yield _about_queries(checked)
    for judge in judges:
        yield from _judge_lines(judge)


def _about_queries(checked: CheckedLabels) -> str:
    assert checked.queries is not None
    queries = checked.queries
    more = f", {queries.disputed:,} disputed" if queries.disputed else ""
    return (
        f"Queries that people keep: {worded(queries.kept)}, {queries.accepted:,} accepted, "
        f"{queries.rejected:,} rejected{more}, {queries.waiting:,} waiting"
    )


def _quality_lines(name: str, found: LabelQuality) -> Iterator[str]:
    right = f"unknown; needs {counted(found.needed, 'more decision')}" if found.needed else worded(found.right)
    yield (
        f"{name.capitalize()} that people find right: {right}, "
        f"{found.checked:,} of {found.labels:,} checked by {found.people:,}"
    )
    for tier, one in found.by_tier.items():
        yield f"  {tier:<10} {worded(one):<22} n={one.n:,}"
    if found.disputed:
        yield f"  {counted(found.disputed, 'more is', 'more are')} disputed: one more person decides"
    if found.in_sight:
        yield f"  {counted(found.in_sight, 'decision was', 'decisions were')} made with the label visible"
    if found.unread:
        yield f"  decisions that could not be read: {some(found.unread, _SHOWN)}"


def _judge_lines(judge: JudgeQuality) -> Iterator[str]:
    yield f"{judge.judge} against people, {judge.checked:,} of {judge.judged:,} judgments checked:"
    yield f"  {'':<12} {'agreement':<22} {'precision':<22} recall"
    for name, rates in (("all", judge.rates), *judge.by_tier.items()):
        yield (
            f"  {name:<12} {worded(rates.agreement):<22} {worded(rates.precision):<22} {worded(rates.recall)}".rstrip()
        )
    for grade, one in judge.by_grade.items():
        if one.n:
            yield f"  of grade {grade}, people find relevant: {worded(one)}, n={one.n:,}"


def _unknown(baseline: Baseline) -> str:
    """Queries that a baseline can't be measured on, because nothing is known of their relevant pictures."""
    if not baseline.unknown:
        return ""
    unknown = counted(len(baseline.unknown), "query", "queries")
    return f"  not known for {unknown}: {counted(baseline.pictures, 'picture has', 'pictures have')} any"


def worded(estimate: Estimate | None) -> str:
    """An estimate in one line; a dash where there was nothing to measure by."""
    if estimate is None or not estimate.n:
        return "–"
    return f"{estimate.mean:.3f} ({no_interval(estimate) or f'{estimate.low:.3f}–{estimate.high:.3f}'})"


@dataclass(frozen=True, slots=True)
class Audit:
    """All checks of one benchmark; `judging` is what the stage `judge` measured."""

    name: str
    baselines: tuple[Baseline, ...]
    twins: LookAlikeReport
    queries: WeakQueries
    drift: tuple[JudgeDrift, ...] = ()
    checked: CheckedLabels = field(default_factory=CheckedLabels)
    judges: tuple[JudgeQuality, ...] = ()
    judging: Mapping[str, Any] = field(default_factory=dict)
    set_aside: int = 0
    shortcut: ShortcutReport | None = None

    def problems(self) -> tuple[str, ...]:
        """What should be mended or be known, each in one line."""
        return tuple(self._problems())

    def _problems(self) -> Iterator[str]:
        yield from shortcut_problem(self.shortcut)
        for baseline in self.baselines:
            more = len(baseline.solved) - baseline.by_chance
            if baseline.by in SHORTCUTS - {LEARNED} and more > SOLVED * self.queries.count:
                yield (
                    f"{len(baseline.solved):,} of {self.queries.count:,} queries are solved by {baseline.by} alone: "
                    f"{some(baseline.solved, _SHOWN)}"
                )
        queries, twins = self.queries, self.twins
        for ids, one, several in (
            (queries.none, "query has no relevant picture", "queries have no relevant picture"),
            (
                queries.only_seed,
                "query has no relevant picture but its seed",
                "queries have no relevant picture but their seed",
            ),
            (
                queries.many,
                "query has more relevant pictures in its pool than others",
                "queries have more relevant pictures in their pool than others",
            ),
            (
                tuple(" and ".join(pair) for pair in queries.equal),
                "pair of queries has the same words",
                "pairs of queries have the same words",
            ),
            (
                tuple(f"{one} and {other} for {task}" for task, one, other in twins.disagree),
                "pair of near-duplicates is judged differently for the same query",
                "pairs of near-duplicates are judged differently for the same query",
            ),
            (
                tuple(f"{picture} for {task}" for task, picture in twins.seed_twins),
                "picture looks like the seed but is judged not relevant",
                "pictures look like the seed but are judged not relevant",
            ),
            (
                tuple(f"{picture} for {task}" for task, picture in twins.shown),
                "relevant picture is a copy of one that the query shows",
                "relevant pictures are copies of one that the query shows",
            ),
        ):
            if ids:
                yield f"{counted(len(ids), one, several)}: {some(ids, _SHOWN)}"
        if twins.across_splits:
            groups = twins.across_splits
            told = counted(len(groups), "group of near-duplicates is", "groups of near-duplicates are")
            yield f"{told} in several splits: {some(groups, _SHOWN)}"
        yield from self._about_judges()

    def _about_judges(self) -> Iterator[str]:
        for drift in self.drift:
            if drift.depends_on_position:
                yield f"{drift.judge} judges by position: later pictures of a call differ by {worded(drift.position)}"
            if drift.changes:
                yield f"{drift.judge} does not judge the same at the end as at the beginning"
        alpha = self.judging.get("agreement", {}).get("alpha", {}).get("value")
        if alpha is not None and alpha < GOOD_ALPHA:
            yield f"low agreement of judges: Krippendorff's alpha is {alpha:.2f}"
        if self.judging.get("weak"):
            yield "a weak judge (builtin/photos) was on the panel"
        if self.checked.main is None:
            yield "no person has checked any label, so it is unknown how many are right"

    def to_json(self) -> dict[str, Any]:
        """For `audit.json`; `summary` is what a card shows."""
        return {
            "name": self.name,
            "summary": self.summary(),
            "problems": list(self.problems()),
            "baselines": [asdict(baseline) for baseline in self.baselines],
            "shortcut": None if self.shortcut is None else asdict(self.shortcut),
            "twins": asdict(self.twins),
            "queries": asdict(self.queries),
            "drift": [
                asdict(drift) | {"depends_on_position": drift.depends_on_position, "changes": drift.changes}
                for drift in self.drift
            ],
            "label_quality": None if self.checked.main is None else asdict(self.checked.main),
            "checked": asdict(self.checked),
            "judges": [asdict(judge) for judge in self.judges],
            "judging": dict(self.judging),
        }

    def summary(self) -> dict[str, Any]:
        """The few numbers that a reader wants first."""
        queries = self.queries
        return {
            "queries": queries.count,
            "set_aside": self.set_aside,
            "no_relevant": len(queries.none),
            "only_seed_relevant": len(queries.only_seed),
            "too_many_relevant": len(queries.many),
            "blind": {
                baseline.by: {
                    "ndcg@10": baseline.ndcg.mean if baseline.ndcg.n else None,
                    "solved": len(baseline.solved),
                    **({"unknown": len(baseline.unknown)} if baseline.unknown else {}),
                }
                for baseline in self.baselines
            },
            "shortcut": shortcut_summary(self.shortcut),
            "look_alikes_judged_differently": len(self.twins.disagree),
            "look_alikes_across_splits": len(self.twins.across_splits),
            **people_summary(self.checked, self.judges),
            "alpha": self.judging.get("agreement", {}).get("alpha"),
            "coverage": self.judging.get("missed", {}).get("coverage"),
            "problems": len(self.problems()),
        }

    def to_text(self) -> str:
        """For a terminal, and for `audit.txt`."""
        return "\n".join(line.rstrip() for line in self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield f"Audit of {self.name}: {self.queries.count:,} queries, {self.set_aside:,} set aside"
        yield ""
        yield from self._blind_lines()
        yield from shortcut_lines(self.shortcut)
        yield (
            f"Near-duplicates: {self.twins.pictures:,} pictures in {self.twins.groups:,} groups, "
            f"{len(self.twins.shared):,} pairs of queries share some"
            f"{'' if self.twins.compared is None else f'; {self.twins.compared:,} files compared'}"
        )
        for drift in self.drift:
            if drift.position is not None:
                yield f"{drift.judge}: later − earlier pictures of a call: {worded(drift.position)}"
        yield from self._judging_lines()
        yield from people_lines(self.checked, self.judges)
        yield ""
        problems = self.problems()
        yield f"{counted(len(problems), 'finding')} to check" if problems else "Nothing to correct was found"
        yield from (f"  - {problem}" for problem in problems)

    def _blind_lines(self) -> Iterator[str]:
        if not self.baselines:
            return
        yield "Without looking at a picture       nDCG@10                first is right         solved  by chance"
        for baseline in self.baselines:
            mark = " *" if baseline.by in SHORTCUTS else ""
            yield (
                f"  {baseline.by + mark:<32} {worded(baseline.ndcg):<22} {worded(baseline.success):<22} "
                f"{len(baseline.solved):>6,} {baseline.by_chance:>10.1f}{_unknown(baseline)}"
            )
        yield "  * has nothing to do with what is in a picture"
        yield ""

    def _judging_lines(self) -> Iterator[str]:
        coverage = self.judging.get("missed", {}).get("coverage")
        if coverage is not None:
            yield (
                f"Relevant pictures found: {coverage['value']:.1%} "
                f"({coverage['low']:.1%} to {coverage['high']:.1%}), by a draw from outside the pools"
            )
        alpha = self.judging.get("agreement", {}).get("alpha", {})
        if alpha.get("value") is not None:
            between = "" if alpha["low"] is None else f" ({alpha['low']:.2f} to {alpha['high']:.2f})"
            yield f"Agreement of the judges: Krippendorff's alpha {alpha['value']:.2f}{between}"


@dataclass(frozen=True, slots=True)
class AuditStage:
    """Looks for what makes scores mean less than they seem to; asks nobody."""

    bench: Path | None = None
    "A benchmark to audit in place of the project's: imported, mined, or reviewed."
    name: str = "audit"
    writes: tuple[str, ...] = (files.AUDIT,)

    def run(self, project: Project) -> StageResult:
        """Audit the benchmark that the files of the project make, or the one that was given, beside its tables."""
        if project.calls.plan:
            return StageResult(self.name, price=free_plan(self.name, "nobody"))
        if self.bench is None:
            audit, warnings = _audit_project(project)
            path = project.prepare(files.AUDIT)
        else:
            audit, warnings = _audit_folder(self.bench, project), ()
            path = self.bench / files.FILES[files.AUDIT]
        write_json(path, audit.to_json())
        text = path.with_suffix(".txt")
        write_whole(text, audit.to_text().encode())
        return StageResult(
            self.name,
            (path, text),
            {
                "queries": audit.queries.count,
                "problems": len(audit.problems()),
                "labels checked": 0 if audit.checked.main is None else audit.checked.main.checked,
            },
            {},
            (*warnings, *audit.problems()),
        )


def _audit_folder(folder: Path, project: Project) -> Audit:
    benchmark = read_benchmark(folder)
    judging = benchmark.card.get("judging")
    return audit_benchmark(
        benchmark,
        judging=judging if isinstance(judging, dict) else None,
        seed=_seed(project),
        files=read_files(benchmark.corpus.pictures, folder, project.config),
    )


def _audit_project(project: Project) -> tuple[Audit, tuple[str, ...]]:
    """The benchmark that the files of a project make, and what there is to say about them."""
    found = assemble(project)
    aside = project.path(files.SET_ASIDE)
    lines = len(aside.read_bytes().splitlines()) if aside.is_file() else 0
    audit = audit_benchmark(
        found.benchmark,
        found.verdicts,
        judging=found.judging,
        set_aside=lines + len(found.set_aside),
        seed=_seed(project),
        files=read_files(found.benchmark.corpus.pictures, project.folder, project.config),
    )
    return audit, found.warnings


def _seed(project: Project) -> int:
    return project.config.judge.random_seed % 2**32


def audit_benchmark(
    benchmark: Benchmark,
    verdicts: Sequence[JudgeVerdict] = (),
    *,
    judging: Mapping[str, Any] | None = None,
    set_aside: int = 0,
    seed: int = 0,
    files: CorpusFiles | None = None,
) -> Audit:
    """All checks of a benchmark; `verdicts` tell when and in which place a picture was judged.

    Blind baselines, near-duplicates and lopsided queries are looked for among rank tasks; labels that are told without
    content among rank and select tasks; what people checked in all.
    `files` is what `read_files` found: their size and bytes, and which are copies.
    """
    ranks = any(isinstance(truth, Relevance) for truth in benchmark.truth.values())
    finds = any(isinstance(truth, Relevance | PictureSet) for truth in benchmark.truth.values())
    learned = learn_shortcut(benchmark, files) if finds else None
    return Audit(
        benchmark.name,
        blind_baselines(benchmark, learned) if ranks else (),
        find_look_alikes(benchmark, files),
        find_weak_queries(benchmark),
        find_drift(verdicts, seed),
        check_labels(benchmark),
        judge_quality(benchmark),
        judging or {},
        set_aside,
        None if learned is None else learned.report,
    )
