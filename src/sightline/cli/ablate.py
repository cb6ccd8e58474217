"""`sightline ablate BENCH --model MODEL --out DIR`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sightline.cli.options import ChatOptions, Common, Positive, SamplingOptions, show_plan
from sightline.errors import UserError

if TYPE_CHECKING:
    from sightline.reason.ablations import Necessity


def ablate(
    benchmark: Path,
    /,
    *,
    out: Path | None = None,
    without: list[str] | None = None,
    repeat: Positive = 1,
    concurrency: Positive = 4,
    chat: ChatOptions = ChatOptions(),
    sampling: SamplingOptions = SamplingOptions(),
    common: Common = Common(),
) -> None:
    """Say what of the questions is needed: text, pictures, several of them, their order. Run it again to go on.

    Parameters
    ----------
    benchmark:
        The folder of the benchmark.
    out:
        A folder that gets a run for the whole question and one for each ablation.
    without:
        The ablations, once for each: "without text", "without pictures", "one picture", "shuffled pictures"; all when
        not given.
    repeat:
        How often each task is tried.
    concurrency:
        How many tasks at once.
    """
    from sightline.reason.ablations import ARMS, Ablations

    asked = {name: value for name, value in sampling.parameters(common).items() if value is not None}
    options: dict[str, Any] = {**asked, "concurrency": concurrency}
    if chat.base_url is not None:
        options["base_url"] = chat.base_url
    ablations = Ablations(
        benchmark,
        chat.chosen(),
        options,
        tuple(without or ARMS),
        repeat,
        common.seed or 0,
        common.limit,
        common.workspace_path,
        common.settings(),
        chat.asking(common),
    )
    if chat.plan:
        common.note(ablations.asked().notes())
        show_plan(ablations.price(out), common)
        return
    if out is None:
        raise UserError("there is no place for the runs.", "say where: --out FOLDER")
    done = ablations.run(out)
    if common.json:
        common.print_json(done.to_json())
    else:
        common.console.print(to_text(done), markup=False, soft_wrap=True)


def to_text(done: Necessity) -> str:
    """Each arm with its estimate, its difference from the whole question, and whether that can be trusted."""
    standings = {standing.system: standing.estimate for standing in done.comparison.standings[done.metric]}
    differences = {pair.second: pair for pair in done.against_whole()}
    width = max(map(len, standings))
    lines = []
    for name in done.comparison.systems:
        own = standings[name]
        interval = own.no_interval or f"{own.low:.2f}, {own.high:.2f}"
        line = f"  {name:<{width}}  {done.metric} {own.mean:.2f} [{interval}]"
        if name in differences:
            pair = differences[name]
            found, p = pair.difference, pair.p_adjusted
            shown = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
            verdict = "needed" if done.is_needed(name) else "not shown to be needed"
            spread = found.no_interval or f"{found.low:+.2f}, {found.high:+.2f}"
            line += f"   {found.mean:+.2f} [{spread}]  {shown}  {verdict}"
        lines.append(line)
    if done.chance is not None:
        lines.append(f"  {'guessing':<{width}}  {done.metric} {done.chance:.2f}")
    if not done.above_chance:
        lines.append("  the model does no better than guessing: this says nothing about the questions")
    n = standings[done.comparison.systems[0]].n
    lines += [f"  {n:,} tasks, {done.several:,} of them with several pictures in the question"]
    lines += [f"  note: {note}" for note in done.notes]
    return "\n".join([*lines, f"  → {done.folder}"])
