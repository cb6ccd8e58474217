"""`sightline ablate BENCH --model MODEL --out DIR`."""

from __future__ import annotations

from pathlib import Path

from sightline.cli.options import ChatOptions, Common, Positive, Repeated, SamplingOptions, described_by
from sightline.reason.ablations import ablate as run_ablations


@described_by(run_ablations)
def ablate(
    benchmark: Path,
    /,
    *,
    out: Path | None = None,
    without: Repeated = None,
    repeat: Positive = 1,
    concurrency: Positive = 4,
    chat: ChatOptions = ChatOptions(),
    sampling: SamplingOptions = SamplingOptions(),
    common: Common = Common(),
) -> None:
    """Say what of the questions is needed: text, pictures, several of them, their order. Run it again to go on.

    Parameters
    ----------
    without:
        The ablations, once for each: "without text", "without pictures", "one picture", "shuffled pictures"; all when
        not given.
    """
    done = run_ablations(
        benchmark,
        out,
        model=chat.chosen(),
        without=without,
        repeat=repeat,
        concurrency=concurrency,
        **sampling.parameters(common),
        limit=common.limit,
        session=common.session(chat.calls(common)),
    )
    common.show(done)
