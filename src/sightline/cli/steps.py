"""`sightline steps BENCH --model MODEL --out BENCH2`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import ChatOptions, Common, EngineOption, SamplingOptions, Switch, show_plan
from sightline.english import counted
from sightline.errors import FoundError, UserError

if TYPE_CHECKING:
    from sightline.reason.steps.pipeline import CheckedSteps, StepsSummary

_SHOWN = 5


def steps(
    benchmark: Path,
    /,
    *,
    out: Path | None = None,
    repairs: Annotated[int, Parameter(validator=Number(gte=0))] = 2,
    tell_answer: Switch = False,
    again: Switch = False,
    reviewed: Path | None = None,
    check: Switch = False,
    engine: EngineOption = "local",
    chat: ChatOptions = ChatOptions(),
    sampling: SamplingOptions = SamplingOptions(),
    common: Common = Common(),
) -> None:
    """Have a model write the five reasoning steps of each question; what passes the checks becomes its reference.

    Parameters
    ----------
    benchmark:
        The folder of a benchmark with choose or answer tasks.
    out:
        The folder of the benchmark with steps, new or written before; it may be the same.
    repairs:
        How often a reply is sent back with what is wrong with it.
    tell_answer:
        Tell the model the right answer from the beginning; otherwise only when its conclusion was wrong.
    again:
        Also replace the steps of questions that have all five.
    reviewed:
        A steps-review.jsonl whose replies people have mended; without --model nobody is asked for the others.
    check:
        Only check the steps that the benchmark has; ends with 4 where something is wrong.
    """
    from sightline.calls.session import Session
    from sightline.reason.questions import QuestionWork
    from sightline.reason.steps.annotation import MAX_TOKENS, StepSettings
    from sightline.reason.steps.pipeline import annotate_benchmark, check_steps, price_steps

    session = Session(common.workspace_path, common.settings(), chat.asking(common), engine)
    work = QuestionWork(benchmark, session, common.limit)
    if check:
        _show_check(check_steps(work), common)
        return
    parameters = {**sampling.parameters(common), "max_tokens": sampling.max_tokens or MAX_TOKENS}
    if chat.plan:
        show_plan(price_steps(work, StepSettings(chat.chosen(), repairs, tell_answer, parameters), again=again), common)
        return
    if out is None:
        raise UserError("there is no place for the benchmark with steps.", "say where: --out FOLDER")
    nobody = chat.model is None and reviewed is not None
    settings = None if nobody else StepSettings(chat.chosen(), repairs, tell_answer, parameters)
    done = annotate_benchmark(work, settings, out, again=again, reviewed=reviewed)
    if common.json:
        common.print_json(done.to_json())
    else:
        common.console.print(to_text(done), markup=False, soft_wrap=True)


def to_text(done: StepsSummary) -> str:
    """What has steps now, what is left, and what it cost."""
    from sightline.calls.ledger import LedgerRow

    lines = []
    if done.calls or not done.reviewed:
        lines.append(
            f"  {done.annotated:,} of {counted(done.tasks, 'question')} annotated: {done.repaired:,} after repair, "
            f"{done.told:,} knowing the answer"
        )
    if done.reviewed:
        lines.append(f"  {done.reviewed:,} taken from the review")
    if done.kept:
        wrong = f", with faults: {_listed(done.kept_faults)}" if done.kept_faults else ""
        lines.append(f"  {done.kept:,} kept as they were{wrong}")
    if done.left:
        why = _listed({**done.faults, **done.failures})
        lines.append(f"  {done.left:,} left to people" + (f": {why}" if why else ""))
    if done.calls:
        cost = LedgerRow(usd=done.usd, unpriced=done.unpriced).money
        lines.append(f"  {counted(done.calls, 'call')} · cost {cost} · {done.seconds:.1f} s")
    lines.append(f"  → {done.folder}")
    if done.left:
        lines += _next(done)
    return "\n".join(lines)


def _next(done: StepsSummary) -> Iterator[str]:
    """What people do about the questions that are left: some are wrong themselves, of others the reply is."""
    from sightline.reason.steps.review import REVIEW

    review = done.folder / REVIEW
    if done.unasked:
        many = counted(done.unasked, "question")
        yield f"  next: mend {many} in the benchmark (not asked; {review} says what is wrong), and run it again"
    if done.left > done.unasked:
        again = f"sightline steps {done.folder} --reviewed {review} --out {done.folder}"
        yield f"  next: mend the replies in {review}; then {again}"


def _show_check(found: CheckedSteps, common: Common) -> None:
    if common.json:
        common.print_json(
            {"tasks": found.tasks, "complete": found.complete, "kinds": found.kinds, "faults": found.faults}
        )
    else:
        common.console.print(
            f"  {found.complete:,} of {found.tasks:,} questions have all five steps; "
            f"{found.complete - len(found.faults):,} of these are in order",
            markup=False,
        )
    if found.faults:
        shown = [f"{task}: {faults[0]}" for task, faults in list(found.faults.items())[:_SHOWN]]
        more = f"\n  … and {len(found.faults) - _SHOWN:,} more" if len(found.faults) > _SHOWN else ""
        listed = "\n  ".join(shown)
        raise FoundError(f"steps with faults ({_listed(found.kinds)}):\n  {listed}{more}")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
