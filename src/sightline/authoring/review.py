"""The stage `review`: a BENCH folder and its `reviews.jsonl` → the next version of it, beside the one before."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sightline.authoring.assemble import FOLDER
from sightline.authoring.audit import audit_benchmark, people_summary
from sightline.authoring.judge_quality import judge_quality
from sightline.authoring.project import Project
from sightline.authoring.review_changes import AppliedReviews, apply_reviews
from sightline.authoring.stage import StageResult, free_plan
from sightline.benchmark.files import HEADER, REVIEWS, TASKS, TRUTH
from sightline.benchmark.folder import check_place, read_benchmark, write_benchmark_elsewhere
from sightline.benchmark.label_quality import check_labels
from sightline.benchmark.review_decisions import PEOPLE
from sightline.benchmark.truth import TaskTruth
from sightline.benchmark.validation import validate_benchmark
from sightline.errors import UserError
from sightline.io.jsonl import parse_line, read_json
from sightline.runs.shortcuts.file_facts import read_files
from sightline.types import Benchmark, Json, Relevance

LOG = "review.json"
"""Beside the tables of a reviewed benchmark: for each version what was changed, by whom, and what it was before."""
_SHOWN = 5


def review_benchmark(
    source: Path,
    out: Path | None = None,
    *,
    people: int = PEOPLE,
    accepted_only: bool = False,
    dry_run: bool = False,
) -> tuple[Path, AppliedReviews]:
    """Apply the reviews of the benchmark in `source`, and write the next version to `out`; `source` stays as it is.

    `out` is `source` with the new version behind its name when not given; only that version, made of the same tasks
    and with no reviews of its own, is replaced there. With `dry_run` nothing is written.
    """
    before = read_benchmark(source)
    applied = apply_reviews(before, people=people, accepted_only=accepted_only)
    _refuse_nothing(source, before, applied, people)
    version = applied.benchmark.version
    place = source if source.name not in ("", "..") else source.resolve()
    out = place.with_name(f"{place.name.removesuffix(f'-v{before.version}')}-v{version}") if out is None else out
    if out.resolve() == source.resolve():
        raise UserError(f"{out} is the version before, which runs may belong to.", "choose another folder")
    _refuse_another(out, before, applied.benchmark)
    applied = replace(applied, benchmark=replace(applied.benchmark, card=_card(before, applied, people, source)))
    if not dry_run:
        log = {"versions": [*_earlier(source), _entry(before, applied, people)]}
        written = write_benchmark_elsewhere(applied.benchmark, source, out, beside={LOG: log}, force=True)
        applied = replace(applied, benchmark=written)
    return out, applied


@dataclass(frozen=True, slots=True)
class ReviewStage:
    """Makes what people decided count; asks nobody."""

    bench: Path | None = None
    "The benchmark; that of the project when not given."
    out: Path | None = None
    people: int = PEOPLE
    accepted_only: bool = False
    dry_run: bool = False
    name: str = "review"
    writes: tuple[str, ...] = ()

    def run(self, project: Project) -> StageResult:
        """Write the next version, whole or not at all, and look at what was written as `sightline validate` does."""
        if project.calls.plan:
            return StageResult(self.name, price=free_plan(self.name, "nobody"))
        source = self.bench or project.folder / FOLDER
        if not (source / HEADER).is_file():
            raise UserError(f"there is no benchmark in {source}.", "name its folder: sightline make review BENCH")
        out, applied = review_benchmark(
            source, self.out, people=self.people, accepted_only=self.accepted_only, dry_run=self.dry_run
        )
        problems = () if self.dry_run else validate_benchmark(out)
        return StageResult(
            self.name,
            () if self.dry_run else (out,),
            applied.counts(),
            {"problem": len(problems)} if problems else {},
            (*_told(applied), *map(str, problems[:_SHOWN])),
        )


def _refuse_another(out: Path, before: Benchmark, after: Benchmark) -> None:
    """Only what was made of the same benchmark is replaced: its tasks, left out or reworded by now, and its reviews."""
    check_place(out, before.name, before.reviews, {**before.tasks, **after.tasks})
    there = read_json(out / HEADER).get("version") if (out / HEADER).is_file() else after.version
    if there != after.version:
        raise UserError(
            f"{out} is version {there}, which runs may belong to, and this is version {after.version}.",
            "choose another folder",
        )


def _refuse_nothing(source: Path, before: Benchmark, applied: AppliedReviews, people: int) -> None:
    if not before.reviews:
        raise UserError(
            f"nobody has reviewed {source}: it has no {REVIEWS.name}.", f"review it: sightline view {source}"
        )
    fresh = [task for task in applied.accepted if before.tasks[task].extra.get("review") == "waiting"]
    if applied.changes or applied.left_out or fresh:
        return
    counts = applied.counts()
    raise UserError(
        f"the reviews of {source} change nothing: {counts['labels confirmed']:,} labels are confirmed, and about "
        f"{applied.undecided:,} things fewer than {people} people agree.",
        "nothing needs to be done; or where one person's word is enough, --people 1" if people > 1 else "review more",
    )


def _card(before: Benchmark, applied: AppliedReviews, people: int, source: Path) -> dict[str, Json]:
    """The card with what was changed, and what people say of the labels as they are now."""
    after = applied.benchmark
    card: dict[str, Any] = dict(before.card)
    card["audit"] = _audit(before, after, source)
    retention = card.get("retention")
    reasons = dict(Counter(one.reason for one in applied.left_out).most_common())
    card["reviewed"] = {
        "from": {"version": before.version, "checksum": before.checksum},
        "people_needed": people,
        "reviewers": len({review.person for review in before.reviews}),
        **{name.replace(" ", "_"): count for name, count in applied.counts().items()},
        "queries_before": len(before.tasks),
        "reasons": reasons,
    }
    if isinstance(retention, dict):
        kept = {"queries": len(before.tasks), "kept": len(after.tasks), "refused": reasons}
        card["retention"] = {**retention, "review": kept}
    return card


def _audit(before: Benchmark, after: Benchmark, source: Path) -> dict[str, Any]:
    """What the audit says of the new version; where there was none, what people do."""
    audit, judging = before.card.get("audit"), before.card.get("judging")
    known = audit if isinstance(audit, dict) else {}
    if "blind" not in known or not all(isinstance(truth, Relevance) for truth in after.truth.values()):
        return {**known, **people_summary(check_labels(after), judge_quality(after))}
    aside = known.get("set_aside")
    gone = len(before.tasks) - len(after.tasks) + (aside if isinstance(aside, int) else 0)
    known_judging = judging if isinstance(judging, dict) else None
    found = read_files(after.corpus.pictures, source)
    return audit_benchmark(after, judging=known_judging, set_aside=gone, files=found).summary()


def _earlier(source: Path) -> list[Any]:
    path = source / LOG
    found = read_json(path).get("versions") if path.is_file() else None
    return found if isinstance(found, list) else []


def _entry(before: Benchmark, applied: AppliedReviews, people: int) -> dict[str, Any]:
    """All that this version changed, with what was left out in full."""
    return {
        "version": applied.benchmark.version,
        "from": {"version": before.version, "checksum": before.checksum},
        "when": datetime.now(UTC),
        "people_needed": people,
        "counts": applied.counts(),
        "changes": [asdict(change) for change in applied.changes],
        "left_out": [asdict(one) | _whole(before, one.task) for one in applied.left_out],
    }


def _whole(benchmark: Benchmark, task: str) -> dict[str, Any]:
    """A task that is left out, as the tables had it."""
    truth = TRUTH.line(TaskTruth(task, benchmark.truth[task]))
    reviews = [REVIEWS.line(review) for review in benchmark.reviews if review.task == task]
    path = Path(LOG)
    return {
        "task": parse_line(path, 1, TASKS.line(benchmark.tasks[task])),
        "truth": parse_line(path, 1, truth),
        "reviews": [parse_line(path, 1, line) for line in reviews],
    }


def _told(applied: AppliedReviews) -> tuple[str, ...]:
    lines = [f"{one.task} is left out: {one.reason}" for one in applied.left_out]
    more = len(lines) - _SHOWN
    return (*lines[:_SHOWN], *([f"and {more:,} more are left out"] if more > 0 else ()))
