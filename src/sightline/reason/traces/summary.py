"""The summary of a folder of traces, counted from its index, and the dataset card (README.md) that shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from sightline.display import Table, html_table, quiet
from sightline.english import counted
from sightline.io.files import write_whole
from sightline.reason.traces.filters import REASONS
from sightline.reason.traces.folder import CARD, DATA
from sightline.reason.traces.index import TraceIndex


@dataclass(frozen=True, slots=True)
class TeacherCounts:
    """What became of one teacher's replies; `usd` is what is known of the money, `unpriced` calls cost more.

    Tokens and money are of all calls, also of those that failed. `quality` is the mean of what is kept, `consistency`
    that of all that was checked and has thinking: the share of its claims that the thinking leaves standing.
    """

    model: str
    kept: int
    rejected: int
    failed: int
    input: int
    output: int
    reasoning: int
    usd: float
    unpriced: int
    quality: float | None
    consistency: float | None = None


@dataclass(frozen=True, slots=True, repr=False)
class TraceSummary(Table[TeacherCounts]):
    """Counts of a folder; `asked` of its rows are new, and `may_pass` have a failure that another try may help."""

    folder: Path
    rows: int
    asked: int
    rows_kept: int
    teachers: tuple[TeacherCounts, ...]
    rejected: Mapping[str, int]
    failed: Mapping[str, int]
    may_pass: int
    agreement: float | None
    contradicting: int
    verified: int
    verifier_failed: Mapping[str, int]
    verifier_usd: float
    verifier_unpriced: int
    shards: int
    without_prompt: int
    seconds: float
    pictures: Path | None = None
    "The folder that the pictures are in, where there is one; to import the traces as a benchmark."
    notes: tuple[str, ...] = ()
    "What else there is to know, such as files that were skipped."

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is worth a look: pictures that were not asked about, and verification that failed."""
        found = []
        if self.without_prompt:
            found.append(f"pictures for which no prompt fits what is known of them: {self.without_prompt:,}")
        if self.verifier_failed:
            failed = sum(self.verifier_failed.values())
            kinds = ", ".join(f"{kind} {count:,}" for kind, count in self.verifier_failed.items())
            of_rows = f"{failed:,} of {counted(failed + self.verified, 'row')} ({kinds})"
            found.append(f"verification failed in {of_rows}: what was said there is kept without it")
        return tuple(found)

    @property
    def kept(self) -> int:
        return sum(teacher.kept for teacher in self.teachers)

    @property
    def names(self) -> tuple[str, ...]:
        """The teachers as people are told of them: samples of one model are told apart."""
        models = [teacher.model for teacher in self.teachers]
        return tuple(
            f"{model} (sample {models[: place + 1].count(model)}/{models.count(model)})"
            if models.count(model) > 1
            else model
            for place, model in enumerate(models)
        )

    @property
    def usd(self) -> float:
        """Dollars that are known; see `unpriced`."""
        return sum(teacher.usd for teacher in self.teachers) + self.verifier_usd

    @property
    def unpriced(self) -> int:
        """Replies whose price is not known."""
        return sum(teacher.unpriced for teacher in self.teachers) + self.verifier_unpriced

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints; `usd` is null where no price is known, and `usd_at_least` what is."""
        values = asdict(self)
        del values["pictures"], values["notes"]
        usd = None if self.unpriced else self.usd
        return {**values, "folder": str(self.folder), "kept": self.kept, "usd": usd, "usd_at_least": self.usd}

    def records(self) -> list[dict[str, Any]]:
        """One flat record for each teacher: what became of its replies, tokens, money, quality."""
        return [{"teacher": name, **asdict(one)} for name, one in zip(self.names, self.teachers, strict=True)]

    def _rows(self) -> Sequence[TeacherCounts]:
        return self.teachers

    def _line(self) -> str:
        return f"{counted(self.kept, 'trace')} kept of {counted(self.rows, 'row')}"

    def _blocks(self) -> Iterable[str]:
        head = ("teacher", "kept", "rejected", "failed", "tokens", "quality")
        rows = [
            (name, f"{one.kept:,}", f"{one.rejected:,}", f"{one.failed:,}", f"{one.output:,}", _share(one.quality))
            for name, one in zip(self.names, self.teachers, strict=True)
        ]
        yield html_table(head, rows, numeric=range(1, len(head)))
        yield quiet(f"cost {self._cost()} · {self.seconds:.1f} s · {self.folder}")

    def __str__(self) -> str:
        """What is kept and what is not, what it cost, and what comes next."""
        before = self.rows - self.asked
        lines = [
            f"  {counted(self.kept, 'trace')} kept of {counted(self.rows, 'row')}"
            + (f", {before:,} of them from before" if before else "")
        ]
        for state, counts in (("rejected", self.rejected), ("failed", self.failed)):
            if counts:
                lines.append(f"  {state}: {', '.join(f'{reason} {count:,}' for reason, count in counts.items())}")
        if self.may_pass:
            lines.append(f"  failures that may pass: {counted(self.may_pass, 'row')}; --retry-failed asks again")
        for name, teacher in zip(self.names, self.teachers, strict=True):
            quality = "" if teacher.quality is None else f", quality {teacher.quality:.2f}"
            if (consistency := teacher.consistency) is not None and consistency < 1:
                quality += f", consistency {consistency:.2f}"
            lines.append(f"  {name}: {teacher.kept:,} kept, {teacher.output:,} tokens{quality}")
        if self.agreement is not None:
            against = f"they contradict each other in {counted(self.contradicting, 'row')}"
            lines.append(f"  teachers agree on {self.agreement:.0%} of what they claim; {against}")
        lines += [f"  cost {self._cost()} · {self.seconds:.1f} s"]
        lines += [f"  → {self.folder} · {counted(self.shards, 'shard')}"]
        return "\n".join([*lines, *self._next()])

    def _cost(self) -> str:
        known = f"${self.usd:.4f}"
        return f"at least {known}: {counted(self.unpriced, 'call')} of unknown price" if self.unpriced else known

    def _next(self) -> Iterator[str]:
        if self.kept:
            where = "" if self.pictures is None else f" --pictures {quote(_from_here(self.pictures))}"
            yield f"  next: sightline import imagenet-think {quote(str(self.folder))} --out BENCH{where}"


def _share(quality: float | None) -> str:
    return "–" if quality is None else f"{quality:.2f}"


def _from_here(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def summarize_traces(
    folder: Path,
    index: TraceIndex,
    models: Sequence[str],
    *,
    asked: int = 0,
    without_prompt: int = 0,
    seconds: float = 0.0,
) -> TraceSummary:
    """Count what the index holds."""
    database = index.database
    rows, rows_kept, may_pass, agreement, contradicting = database.execute(
        """SELECT count(*), coalesce(sum(kept > 0), 0), coalesce(sum(retryable), 0), avg(agreement),
            coalesce(sum(conflicts > 0), 0) FROM rows"""
    ).fetchone()
    verdicts = _counts(index, "SELECT verifier, count(*) FROM rows WHERE verifier IS NOT NULL GROUP BY 1")
    verifier_usd, unpriced = database.execute(
        """SELECT coalesce(sum(verifier_usd), 0.0), coalesce(sum(verifier IS NOT NULL AND verifier_usd IS NULL), 0)
        FROM rows"""
    ).fetchone()
    reasons = "SELECT reason, count(*) FROM outcomes WHERE state = '{}' GROUP BY 1 ORDER BY 2 DESC, 1"
    return TraceSummary(
        folder=folder,
        rows=rows,
        asked=asked,
        rows_kept=rows_kept,
        teachers=tuple(_teacher(index, place, model) for place, model in enumerate(models)),
        rejected=_counts(index, reasons.format("rejected")),
        failed=_counts(index, reasons.format("failed")),
        may_pass=may_pass,
        agreement=None if agreement is None else round(agreement, 3),
        contradicting=contradicting,
        verified=verdicts.pop("done", 0),
        verifier_failed=verdicts,
        verifier_usd=verifier_usd,
        verifier_unpriced=unpriced,
        shards=database.execute("SELECT count(*) FROM shards").fetchone()[0],
        without_prompt=without_prompt,
        seconds=round(seconds, 2),
    )


def _counts(index: TraceIndex, query: str) -> dict[str, int]:
    return {str(name): count for name, count in index.database.execute(query)}


def _teacher(index: TraceIndex, place: int, model: str) -> TeacherCounts:
    values = index.database.execute(
        """SELECT coalesce(sum(state = 'kept'), 0), coalesce(sum(state = 'rejected'), 0),
            coalesce(sum(state = 'failed'), 0), coalesce(sum(input), 0), coalesce(sum(output), 0),
            coalesce(sum(reasoning), 0), coalesce(sum(usd), 0.0), coalesce(sum(answered AND usd IS NULL), 0),
            round(avg(CASE WHEN state = 'kept' THEN quality END), 3), round(avg(consistency), 3)
        FROM outcomes WHERE place = ?""",
        (place,),
    ).fetchone()
    return TeacherCounts(model, *values)


def write_card(folder: Path, header: Mapping[str, Any], summary: TraceSummary) -> None:
    """Write README.md."""
    write_whole(folder / CARD, "\n".join(_lines(header, summary)).encode())


def _lines(header: Mapping[str, Any], summary: TraceSummary) -> Iterator[str]:
    yield "---"
    yield "task_categories: [image-text-to-text]"
    yield f"configs: [{{config_name: default, data_files: [{{split: train, path: {DATA}/*.{header['format']}}}]}}]"
    yield "---"
    yield f"\n# Traces of {header['source']}\n"
    yield (
        f"{counted(summary.kept, 'trace')} (thinking and answer) of {counted(summary.rows_kept, 'row')} in "
        f"{counted(summary.shards, 'shard')}. "
        "The pictures are not part of it, and keep their own rights.\n"
    )
    yield from _teachers(summary)
    yield "## Not kept\n"
    yield "| reason | replies | |\n|---|---|---|"
    counts = [*summary.rejected.items(), *summary.failed.items()]
    for reason in dict(counts):
        count = summary.rejected.get(reason, 0) + summary.failed.get(reason, 0)
        yield f"| {reason} | {count:,} | {REASONS.get(reason, 'the call failed')} |"
    if not counts:
        yield "| none | 0 | |"
    yield "\nTheir text, cut where it ran away, is in `rejected/`; failed calls have none.\n"
    yield from _checks(summary, header)
    yield "## How it was made\n"
    prompts = header["prompts"]
    many = f"{counted(len(prompts), 'prompt')}, {header['prompts_each']} for each picture"
    yield f"{many}, drawn by seed {header['seed']}:\n"
    yield from (f"> {' '.join(prompt.split())}\n" for prompt in prompts[:20])
    settings = {**header["parameters"], **header["rules"]}
    yield "Settings: " + ", ".join(f"`{name}={value}`" for name, value in settings.items()) + "\n"
    yield "## Columns\n\n" + (Path(__file__).parent / "columns.md").read_text("utf-8")


def _teachers(summary: TraceSummary) -> Iterator[str]:
    yield "## Teachers\n"
    yield "| n | model | kept | rejected | failed | tokens in | tokens out | of these thinking | cost | mean quality |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for number, (name, one) in enumerate(zip(summary.names, summary.teachers, strict=True), 1):
        cost = _cost(one.usd, one.unpriced)
        quality = "–" if one.quality is None else f"{one.quality:.3f}"
        yield (
            f"| {number} | {name} | {one.kept:,} | {one.rejected:,} | {one.failed:,} | {one.input:,} "
            f"| {one.output:,} | {one.reasoning:,} | {cost} | {quality} |"
        )
    yield ""


def _checks(summary: TraceSummary, header: Mapping[str, Any]) -> Iterator[str]:
    yield "## Checks\n"
    if summary.agreement is not None:
        yield f"- Between teachers: {summary.agreement:.3f} of the claims have a partner, in the mean over rows."
    yield f"- Rows in which teachers contradict each other: {summary.contradicting:,}."
    for name, one in zip(summary.names, summary.teachers, strict=True):
        if one.consistency is not None:
            yield f"- {name}: its thinking leaves {one.consistency:.3f} of the claims of an answer standing."
    if header["verifier"] is None:
        yield "- Grounding: not verified; no claim was compared with its picture.\n"
        return
    failed = ", ".join(f"{count:,} {kind}" for kind, count in summary.verifier_failed.items()) or "none"
    cost = _cost(summary.verifier_usd, summary.verifier_unpriced)
    yield f"- Grounding: {header['verifier']} verified {counted(summary.verified, 'row')} ({cost}); failed: {failed}."
    if header["verifier"] in header["teachers"]:
        yield "- The verifier is a teacher, too: of its own mistakes it says that they are in the picture."
    yield ""


def _cost(usd: float, unpriced: int) -> str:
    if unpriced:
        return "unknown" if usd == 0 else f"at least ${usd:.4f}"
    return f"${usd:.4f}"
