"""`sightline think [DIR|WORKSPACE|BENCH] --teacher MODEL --teacher MODEL --out DIR`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import Common, EndpointArguments, EngineOption, Positive, SamplingOptions, Switch, show_plan
from sightline.english import counted
from sightline.errors import UserError

if TYPE_CHECKING:
    from sightline.reason.traces.records import Teacher
    from sightline.reason.traces.summary import TraceSummary

Share = Annotated[float, Parameter(validator=Number(gte=0, lte=1))]


def think(
    source: Path | None = None,
    /,
    *,
    teacher: list[str] | None = None,
    samples: Positive | None = None,
    out: Path | None = None,
    prompt: list[str] | None = None,
    prompts: Path | None = None,
    prompts_each: Positive = 1,
    verifier: str | None = None,
    labels: Path | None = None,
    metadata: Path | None = None,
    language: str = "en",
    least_words: Positive = 8,
    most_words: Positive = 3_000,
    least_quality: Share = 0.0,
    needs_thinking: Switch = False,
    format: Literal["parquet", "jsonl"] | None = None,  # noqa: A002
    shard_rows: Positive = 1_000,
    retry_failed: Switch = False,
    engine: EngineOption = "local",
    endpoint: EndpointArguments = EndpointArguments(),
    sampling: SamplingOptions = SamplingOptions(),
    common: Common = Common(),
) -> None:
    """Have teachers think about pictures; keep what passes the checks, in shards, with a card. Run it again to go on.

    Parameters
    ----------
    source:
        A folder of pictures, which is scanned first, a workspace or a benchmark; the workspace when not given.
    teacher:
        Who thinks, once for each: MODEL, or MODEL@http://host:8000/v1.
    samples:
        How often each teacher is asked; 2 for one teacher and 1 for several when not given.
    out:
        The folder of the traces, new or begun before.
    prompt:
        What is asked, once for each; {caption} and {label} stand for what is known of the picture. ImageNet-Think's
        own prompt when none is given.
    prompts:
        A file of prompts: one a line, or JSON lines with "prompt".
    prompts_each:
        How many of the prompts are drawn for each picture.
    verifier:
        A model that looks at the picture and verifies what the answers claim.
    labels:
        The names of classes: lines such as "n01440764 tench, Tinca tinca", or a JSON object.
    metadata:
        For a folder: a table with a label, a caption or facts for its pictures (.jsonl, .csv, .parquet).
    language:
        The language that traces must be in, such as en or zh; any for all of them.
    least_words:
        Answers with fewer words are not kept.
    most_words:
        Traces with more words are cut, marked as runaway, and not kept.
    least_quality:
        Traces of less quality (0 to 1) are not kept.
    needs_thinking:
        Keep no answer without thinking.
    format:
        Of the shards; Parquet, where that can be written, when not given.
    shard_rows:
        Rows of a shard.
    retry_failed:
        Ask those again who failed where another try may help; what others said there is kept, and not asked again.
    """
    from sightline.calls.session import Session
    from sightline.reason.traces.language import known_language
    from sightline.reason.traces.pipeline import TraceWork, make_traces
    from sightline.reason.traces.questions import open_source, prompts_of, read_names
    from sightline.reason.traces.records import Teacher, TraceRules
    from sightline.reason.traces.teachers import MAX_TOKENS, TraceSettings

    settings = TraceSettings(
        _teachers(teacher, samples),
        prompts_of(prompt or (), prompts, prompts_each, common.seed or 0),
        None if verifier is None else Teacher.parse(verifier),
        TraceRules(
            language=known_language(language),
            least_words=least_words,
            most_words=most_words,
            least_quality=least_quality,
            needs_thinking=needs_thinking,
        ),
        {**sampling.parameters(common), "max_tokens": sampling.max_tokens or MAX_TOKENS},
    )
    if out is None and not endpoint.plan:
        raise UserError("there is no place for the traces.", "say where: --out FOLDER")
    config = common.settings()
    opened = open_source(
        source,
        common.workspace_path,
        config=config,
        names=None if labels is None else read_names(labels),
        metadata=metadata,
    )
    if opened.skipped:
        common.note([_passed_over(opened.skipped)])
    session = Session(common.workspace_path, config, endpoint.asking(common), engine)
    work = TraceWork(opened, settings, session, common.limit)
    if endpoint.plan or out is None:
        show_plan(work.price(), common)
        return
    done = make_traces(work, out, format_=format, shard_rows=shard_rows, retry_failed=retry_failed)
    if done.without_prompt:
        common.warn([f"pictures for which no prompt fits what is known of them: {done.without_prompt:,}"])
    if done.verifier_failed:
        common.warn([_unverified(done)])
    if (said := settings.about_verifier()) is not None:
        common.note([said])
    if common.json:
        common.print_json(done.to_json())
    else:
        common.console.print(to_text(done, opened.folder()), markup=False, soft_wrap=True)


def _teachers(given: list[str] | None, samples: int | None) -> tuple[Teacher, ...]:
    from sightline.reason.traces.records import Teacher, numbered_teachers

    if not given:
        example = "--teacher openai/gpt-5-mini --teacher ollama/llava"
        raise UserError("nobody is asked yet.", f"say who, for example {example}")
    named = [Teacher.parse(name) for name in given]
    return numbered_teachers(tuple(named * (samples or (2 if len(named) == 1 else 1))))


def _passed_over(skipped: Mapping[str, int]) -> str:
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in skipped.items())
    return f"{counted(sum(skipped.values()), 'file')} passed over: {reasons}"


def _unverified(done: TraceSummary) -> str:
    failed = sum(done.verifier_failed.values())
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in done.verifier_failed.items())
    rows = counted(failed + done.verified, "row")
    return f"verification failed in {failed:,} of {rows} ({kinds}): what was said there is kept without it"


def to_text(done: TraceSummary, pictures: Path | None = None) -> str:
    """What is kept and what is not, what it cost, and what comes next, with the folder that the pictures are in."""
    before = done.rows - done.asked
    lines = [
        f"  {counted(done.kept, 'trace')} kept of {counted(done.rows, 'row')}"
        + (f", {before:,} of them from before" if before else "")
    ]
    for state, counts in (("rejected", done.rejected), ("failed", done.failed)):
        if counts:
            listed = ", ".join(f"{reason} {count:,}" for reason, count in counts.items())
            lines.append(f"  {state}: {listed}")
    if done.may_pass:
        lines.append(f"  failures that may pass: {counted(done.may_pass, 'row')}; --retry-failed asks again")
    for name, teacher in zip(done.names, done.teachers, strict=True):
        quality = "" if teacher.quality is None else f", quality {teacher.quality:.2f}"
        lines.append(f"  {name}: {teacher.kept:,} kept, {teacher.output:,} tokens{quality}")
    if done.agreement is not None:
        against = f"they contradict each other in {counted(done.contradicting, 'row')}"
        lines.append(f"  teachers agree on {done.agreement:.0%} of what they claim; {against}")
    cost = f"${done.usd:.4f}"
    if done.unpriced:
        cost = f"at least {cost}: {counted(done.unpriced, 'call')} of unknown price"
    lines += [f"  cost {cost} · {done.seconds:.1f} s", f"  → {done.folder} · {counted(done.shards, 'shard')}"]
    if done.kept:
        where = "" if pictures is None else f" --pictures {quote(_from_here(pictures))}"
        lines.append(f"  next: sightline import imagenet-think {quote(str(done.folder))} --out BENCH{where}")
    return "\n".join(lines)


def _from_here(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
