"""The verb `think`: teachers think about pictures, and what passes the checks is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

from sightline.calls.plan import DryRunError, priced
from sightline.calls.session import Session
from sightline.english import counted
from sightline.errors import UserError, require_at_least, require_one_of
from sightline.io.files import PathLike, optional_path
from sightline.reason.traces.choice import Choose, PictureSelection
from sightline.reason.traces.folder import TRACE_FORMATS, TraceFormat
from sightline.reason.traces.language import known_language
from sightline.reason.traces.pipeline import TraceWork, make_traces
from sightline.reason.traces.questions import PictureSource, open_source, prompts_of, read_names
from sightline.reason.traces.records import Teacher, TraceRules, numbered_teachers
from sightline.reason.traces.summary import TraceSummary
from sightline.reason.traces.teachers import MAX_TOKENS, TraceSettings


@priced
def think(
    source: PathLike | None = None,
    out: PathLike | None = None,
    *,
    teachers: str | Sequence[str] = (),
    samples: int | None = None,
    prompts: str | Sequence[str] = (),
    prompts_file: PathLike | None = None,
    prompts_each: int = 1,
    verifier: str | None = None,
    labels: PathLike | None = None,
    metadata: PathLike | None = None,
    language: str = "en",
    least_words: int = 8,
    most_words: int = 3_000,
    least_quality: float = 0.0,
    needs_thinking: bool = False,
    format: TraceFormat | None = None,  # noqa: A002
    shard_rows: int = 1_000,
    retry_failed: bool = False,
    max_tokens: int | None = None,
    temperature: float | None = None,
    reasoning_effort: str | None = None,
    limit: int | None = None,
    per_class: int | None = None,
    choose: Choose = "first",
    vectors: PathLike | None = None,
    seed: int | None = None,
    workspace: PathLike | None = None,
    session: Session | None = None,
) -> TraceSummary:
    """Have models think about pictures; keep the reasoning traces that pass the checks. Run it again to resume.

    Parameters
    ----------
    source:
        A folder of pictures, which is scanned first, a workspace or a benchmark; the workspace when not given.
    out:
        The folder of the traces, new or begun before; only a dry run needs none.
    teachers:
        The models that think: "provider/model", or "provider/model@http://host:8000/v1".
    samples:
        How often each teacher is asked; 2 for one teacher and 1 for several when not given.
    prompts:
        What is asked; {caption} and {label} stand for what is known of the picture. ImageNet-Think's own prompt when
        none is given.
    prompts_file:
        A file of more prompts: one a line, or JSON lines with "prompt".
    prompts_each:
        How many of the prompts are drawn for each picture.
    verifier:
        A model that looks at the picture and verifies what the answers claim.
    labels:
        A file with the names of classes: lines such as "n01440764 tench, Tinca tinca", or a JSON object.
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
        The format of the shards, "parquet" or "jsonl"; Parquet, where that can be written, when not given.
    shard_rows:
        Rows of a shard.
    retry_failed:
        Ask again where a call failed and another try may help; other replies there are kept.
    max_tokens, temperature, reasoning_effort:
        Fields of every request to a teacher.
    limit:
        Take only so many pictures.
    per_class:
        Take at most so many pictures of each class (synset, else label); `limit` then takes of all classes in turn.
    choose:
        Which pictures: the first, random ones, "diverse" ones, far from each other, or "hard" ones, which are least
        like the others of their class. The last two take `vectors`.
    vectors:
        The file that `embed` wrote of the same folder.
    seed:
        Makes the choice of prompts and of random pictures repeatable, and is part of every request.
    workspace, session:
        Where to work and how to call models; see `Session`.

    Returns
    -------
    TraceSummary
        Counts of the folder; `print` shows what the command prints.

    Examples
    --------
    >>> import sightline
    >>> plan = sightline.dry_run(
    ...     sightline.think, "pictures", teachers=["openai/gpt-5-mini", "openai/gpt-5"], workspace="ws"
    ... )
    >>> [stage.calls for stage in plan.stages]
    [6, 6]
    """
    session = Session.of(session, workspace)
    seed = session.seed if seed is None else seed
    require_at_least(
        1, samples=samples, prompts_each=prompts_each, shard_rows=shard_rows, limit=limit, per_class=per_class
    )
    require_at_least(1, least_words=least_words, most_words=most_words, max_tokens=max_tokens)
    require_at_least(0, least_quality=least_quality, temperature=temperature)
    require_one_of(TRACE_FORMATS, format=format)
    require_one_of(get_args(Choose), choose=choose)
    texts = [prompts] if isinstance(prompts, str) else prompts
    rules = TraceRules(
        language=known_language(language),
        least_words=least_words,
        most_words=most_words,
        least_quality=least_quality,
        needs_thinking=needs_thinking,
    )
    settings = TraceSettings(
        _teachers(teachers, samples),
        prompts_of(texts, optional_path(prompts_file, "a file of prompts"), prompts_each, seed or 0),
        None if verifier is None else Teacher.parse(verifier),
        rules,
        {
            "max_tokens": max_tokens or MAX_TOKENS,
            "temperature": temperature,
            "reasoning_effort": reasoning_effort,
            "seed": seed,
        },
    )
    if out is None and not session.calls.plan:
        raise UserError("No folder is given for the traces.", "Give one: --out FOLDER.")
    place = optional_path(out, "the folder to write")
    pictures = _pictures(source, labels, metadata, session)
    file = optional_path(vectors, "a file of vectors")
    chosen = PictureSelection(choose, per_class, limit, file, seed or 0).apply(pictures)
    work = TraceWork(chosen, settings, session, limit)
    skipped = _skipped(pictures.skipped)
    if chosen is not pictures:
        skipped += (f"{counted(chosen.count, 'picture')} of {pictures.count:,} chosen ({choose})",)
    if session.calls.plan or place is None:
        raise DryRunError(replace(work.price(), notes=skipped))
    done = make_traces(work, place, format_=format, shard_rows=shard_rows, retry_failed=retry_failed)
    notes = (*skipped, *filter(None, (settings.about_verifier(),)))
    return replace(done, pictures=pictures.folder(), notes=notes)


def _teachers(given: str | Sequence[str], samples: int | None) -> tuple[Teacher, ...]:
    named = [Teacher.parse(name) for name in ([given] if isinstance(given, str) else given)]
    if not named:
        example = "--teacher openai/gpt-5-mini --teacher ollama/llava"
        raise UserError("No model is named.", f"Name one, for example {example}.")
    return numbered_teachers(tuple(named * (samples or (2 if len(named) == 1 else 1))))


def _pictures(
    source: PathLike | None, labels: PathLike | None, metadata: PathLike | None, session: Session
) -> PictureSource:
    named = optional_path(labels, "a file with the names of classes")
    return open_source(
        optional_path(source, "a folder of pictures, a workspace or a benchmark"),
        session.workspace,
        config=session.config,
        names=None if named is None else read_names(named),
        metadata=optional_path(metadata, "a table about the pictures"),
    )


def _skipped(skipped: Mapping[str, int]) -> tuple[str, ...]:
    if not skipped:
        return ()
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in skipped.items())
    return (f"{counted(sum(skipped.values()), 'file')} skipped: {reasons}",)
