"""The stage `review`: a BENCH folder and its `reviews.jsonl` → the next version of it, beside the one before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
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
from sightline.benchmark.grade import decided_draw, grade_of
from sightline.benchmark.label_quality import check_labels
from sightline.benchmark.review_decisions import (
    PEOPLE,
    BenchmarkLabels,
    labels_of,
    left_out_labels,
    settled,
    standing,
    still_drawn,
    votes_of,
)
from sightline.benchmark.truth import TaskTruth
from sightline.benchmark.validation import validate_benchmark
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import sha256_of
from sightline.io.jsonl import parse_line, read_json, write_json
from sightline.runs.shortcuts.facts import read_files
from sightline.types import Benchmark, Json, PictureSet, Relevance

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
    and with no reviews of its own, is replaced there. Reviews that only confirm labels make no new version: `source`
    says of itself how many labels are right, and its grade. With `dry_run` nothing is written.
    """
    before = read_benchmark(source)
    applied = apply_reviews(before, people=people, accepted_only=accepted_only)
    if not _changes(source, before, applied, people):
        if not dry_run:
            refresh_card(source, before, people_summary(check_labels(before), judge_quality(before)))
        return source, replace(applied, benchmark=before)
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


def review_command(benchmark: Benchmark, place: str) -> str | None:
    """The command that corrects what people found wrong in the benchmark at `place`; None where that is nothing.

    Where no two people decided on the same, one person's word has to be enough.
    """
    votes = votes_of(standing(benchmark.reviews), benchmark, labels_of(benchmark).now)
    people = min(PEOPLE, max(map(len, votes.values()), default=1))
    applied = apply_reviews(benchmark, people=people)
    enough = "" if people == PEOPLE else f" --people {people}"
    return f"sightline make review {place}{enough}" if applied.changes or applied.left_out else None


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
            (*_told(applied), *_graded(source, out, applied.benchmark), *map(str, problems[:_SHOWN])),
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


def _changes(source: Path, before: Benchmark, applied: AppliedReviews, people: int) -> bool:
    """Whether a new version is due; reviews that neither change nor confirm anything are refused."""
    if not before.reviews:
        raise UserError(
            f"nobody has reviewed {source}: it has no {REVIEWS.name}.", f"review it: sightline view {source}"
        )
    fresh = [task for task in applied.accepted if before.tasks[task].extra.get("review") == "waiting"]
    if not (applied.changes or applied.left_out or fresh or applied.confirmed or applied.accepted):
        needs = counted(applied.undecided, "item needs", "items need")
        raise UserError(
            f"The reviews of {source} change nothing: {needs} decisions of {counted(people, 'person', 'people')} "
            "that agree.",
            "Have a second person review. If one person's decision is enough, add --people 1."
            if people > 1
            else f"Review more labels: sightline view {source}",
        )
    return bool(applied.changes or applied.left_out or fresh)


def refresh_card(
    folder: Path, reviewed: Benchmark, summary: Mapping[str, Any], labels: BenchmarkLabels | None = None
) -> None:
    """Bring `benchmark.json` up to date with the reviews: what people say of the labels, the grade, the checksum."""
    header = read_json(folder / HEADER)
    card = header.setdefault("card", {})
    audit = card.get("audit") if isinstance(card.get("audit"), dict) else {}
    card["audit"] = {**audit, **summary}
    basis = grade_of(reviewed, labels=labels).to_json()
    header |= {"grade": basis.pop("grade"), "grade_basis": basis}
    # Of no other table: what somebody damaged stays noticed.
    header.setdefault("checksums", {})[REVIEWS.name] = sha256_of(folder / REVIEWS.name)
    write_json(folder / HEADER, header)


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
        **_left_out_labels(before, applied),
    }
    if isinstance(retention, dict):
        kept = {"queries": len(before.tasks), "kept": len(after.tasks), "refused": reasons}
        card["retention"] = {**retention, "review": kept}
    return card


def _left_out_labels(before: Benchmark, applied: AppliedReviews) -> dict[str, Any]:
    """What people found of the drawn labels of queries that are left out, here and before; and what is left drawn."""
    labels, gone = labels_of(before), {one.task for one in applied.left_out}
    votes = votes_of(standing(before.reviews), before, labels.now)
    found = {name: list(counts) for name, counts in left_out_labels(before).items()}
    drawn = decided_draw(before, labels) or frozenset()
    for pair in drawn:
        if pair[0] in gone and pair in labels.before and (is_so := settled(votes.get(pair, {}), 1)) is not None:
            held = found.setdefault(labels.stratum[pair], [0, 0])
            held[0] += is_so == (labels.before[pair] > 0)
            held[1] += 1
    rest = Counter(labels.stratum[pair] for pair in drawn if pair[0] not in gone and _is_by_lot(before, pair[0]))
    earlier, sizes = still_drawn(before), Counter(labels.stratum[pair] for pair in labels.before)
    of = {name: size for name, (_, size) in earlier.items()} or sizes
    names = sorted(of) if drawn and (gone or earlier) else ()
    return {"left_out_labels": found, "drawn": {name: [rest[name], of[name]] for name in names}}


def _is_by_lot(benchmark: Benchmark, task: str) -> bool:
    """Of select tasks whole sets are drawn, not labels."""
    return not isinstance(benchmark.truth.get(task), PictureSet)


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


def _graded(source: Path, out: Path, benchmark: Benchmark) -> tuple[str, ...]:
    found = grade_of(benchmark)
    same = (f"No label changed, so there is no new version; {source} is up to date.",) if out == source else ()
    return (*same, f"Grade of the labels: {found.name}. {found.why}".rstrip())


def _told(applied: AppliedReviews) -> tuple[str, ...]:
    lines = [f"{one.task} is left out: {one.reason}" for one in applied.left_out]
    more = len(lines) - _SHOWN
    return (*lines[:_SHOWN], *([f"and {more:,} more are left out"] if more > 0 else ()))
