"""The arms of the experiment: what each trains on in which order, by the plans that `sightline curriculum` ships."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from pathlib import Path
from random import Random
from typing import Any, Literal

from array_examples import ArrayExamples, TrainText
from drawing import STEPS, Drawing, Drawn

from sightline.reason.train.loop import TrainStage

PLANS = (Path(__file__).parents[2] / "src/sightline/reason/curriculum/plans", Path(__file__).parent / "plans")
"""Those that are shipped, and those for this experiment alone."""
ARMS = ("plain", "full-chain", "mir", "shuffled", "reverse", "anti", "self-paced", "faded", "faded-mixed")
LATER = ("rehearsed", "long-end")
TITLES = {kind: "-".join(word.capitalize() for word in kind.split("-")) for kind in STEPS}
TITLES |= {kind: TITLES[kind].replace("-To-", "-to-") for kind in STEPS}


@dataclass(frozen=True, slots=True)
class Setting:
    """What may be varied: how many questions there are, which of them are easy, how many a stage takes of the hard.

    `passes` is how many times an arm trains on as many tokens as MIR's plan has by the usual line and fraction. `by` is
    what tells how hard a question is: the world's dial, or models (levels.py).
    """

    questions: int = 20_000
    easy_below: float = 1 / 3
    fraction: float = 0.4
    rate: float = 5e-4
    passes: float = 1.5
    by: Literal["dial", "model"] = "dial"

    def __str__(self) -> str:
        return (
            f"{self.questions:,} questions, {self.passes:g} passes, easy below {self.easy_below:.2f} by {self.by}, "
            f"fraction {self.fraction:g}, rate {self.rate:g}"
        )


def variants() -> list[tuple[tuple[str, ...], Setting]]:
    """Arms, and the settings in which they are tried beside the experiment itself."""
    found = tomllib.loads((Path(__file__).parent / "variants.toml").read_text())["variants"]
    return [
        (tuple(one["arms"]), Setting(**{name: one[name] for name in one.keys() - {"arms", "about"}})) for one in found
    ]


def text_of(item: Drawn, given: Sequence[str], target: Sequence[str]) -> TrainText:
    """A question with some steps given, and those that are to be written."""
    shown = f"\n\nGiven:\n{_written(item, given)}" if given else ""
    asked = ", ".join(TITLES[kind] for kind in target)
    return TrainText(f"{item.prompt}{shown}\n\nWrite: {asked}.", _written(item, target), tuple(item.pictures))


def _written(item: Drawn, kinds: Sequence[str]) -> str:
    return "\n".join(f"{TITLES[kind]}: {text}" for kind in kinds for text in _numbered(item, kind))


def _numbered(item: Drawn, kind: str) -> list[str]:
    """The texts of a step; captions say of which picture they are, or it would have to be counted."""
    texts = item.steps[kind]
    return [f"Picture {number}: {text}" for number, text in enumerate(texts, 1)] if kind == "caption" else texts


def texts_of(arm: str, items: Sequence[Drawn], setting: Setting, seed: int) -> list[tuple[str, list[TrainText]]]:
    """The stages of an arm with their texts, in the order of the training."""
    plan = _plan(arm)
    base = plan.get("base", arm)
    rng = Random(f"{base}/{seed}")
    by_level = sorted(items, key=lambda item: item.level)
    before: list[TrainText] = []
    found = []
    for phase in _plan(base)["phases"]:
        found.append([(stage["name"], _taught(stage, by_level, setting, rng, before)) for stage in phase["stages"]])
    arrange = plan.get("arrange", "in-order")
    if arrange == "phases-reversed":
        found = found[::-1]
    elif arrange == "stages-reversed":
        found = [phase[::-1] for phase in found]
    stages = [stage for phase in found for stage in phase]
    if arrange == "shuffled":
        return [("shuffled", [text for _, texts in stages for text in texts])]
    return stages


def _plan(name: str) -> dict[str, Any]:
    (file,) = (found for folder in PLANS if (found := folder / f"{name}.toml").exists())
    return tomllib.loads(file.read_text())


def _taught(
    stage: dict[str, Any], by_level: Sequence[Drawn], setting: Setting, rng: Random, before: list[TrainText]
) -> list[TrainText]:
    """A stage's own texts and those that it repeats of earlier stages, as often as it goes round."""
    own = _sampled(stage, by_level, setting, rng)
    mix = stage.get("mix", 0.0)
    wanted = round(mix / (1 - mix) * len(own))
    passes = ceil(wanted / len(before)) if before else 0
    again = [text for _ in range(passes) for text in rng.sample(before, len(before))][:wanted]
    before += own
    return [*own, *again] * stage.get("epochs", 1)


def _sampled(stage: dict[str, Any], by_level: Sequence[Drawn], setting: Setting, rng: Random) -> list[TrainText]:
    pool = [item for item in by_level if _belongs(item, stage.get("pool", "all"), setting)]
    low, high = stage.get("band", (0.0, 1.0))
    pool = pool[round(low * len(pool)) : round(high * len(pool))]
    fraction = stage.get("fraction", 1.0)
    if stage.get("pool") == "hard":
        fraction = setting.fraction
    some = rng.sample(pool, round(fraction * len(pool)))
    return [text_of(item, stage.get("given", ()), stage["target"]) for item in some]


def _belongs(item: Drawn, pool: str, setting: Setting) -> bool:
    return pool == "all" or (item.level < setting.easy_below) == (pool == "easy")


def stages_of(
    arm: str, drawing: Drawing, setting: Setting, seed: int, tokenizer: Any, budget: int | None
) -> list[TrainStage]:
    """The stages of an arm; with a budget, each takes its share of those tokens, however often it goes round."""
    stages = []
    for name, texts in texts_of(arm, drawing.items, setting, seed):
        stages.append((name, ArrayExamples(texts, tokenizer, drawing.pixels)))
    natural = [int(examples.lengths.sum()) for _, examples in stages]
    if budget is None:
        return [TrainStage(name, examples) for name, examples in stages]
    # Cut at rounded ends, so that the parts add up to the budget.
    ends = [round(budget * end / sum(natural)) for end in accumulate(natural)]
    sizes = [end - begin for begin, end in zip([0, *ends], ends, strict=False)]
    return [TrainStage(name, examples, tokens=size) for (name, examples), size in zip(stages, sizes, strict=True)]
