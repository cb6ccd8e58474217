"""The training loop: stages of examples, batches of like lengths, one optimizer, one log, and checkpoints.

A training that goes on from a checkpoint comes to the same weights as one that was never stopped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import count, islice
from typing import Any, Literal

import numpy as np
import torch
from accelerate import Accelerator, DistributedDataParallelKwargs
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from sightline.reason.train.checkpoint import Checkpoints
from sightline.reason.train.examples import IGNORED, ROUND, TrainBatch, TrainExamples
from sightline.reason.train.result import Totals

WINDOW = 64
"""Batches' worth of examples that are sorted by rounded length at a time: few enough to stay mixed."""
_AHEAD = 4
BETAS = (0.9, 0.98)
Evaluate = Callable[[str, nn.Module], Mapping[str, Any]]
LogEntryWriter = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class UpdateStep:
    """One update of the weights: the batches whose gradients are added up for it."""

    batches: tuple[tuple[int, ...], ...]


def steps_of(
    lengths: NDArray[np.int64], *, tokens: int, together: int = 1, chance: Sequence[int], mixed: bool = True
) -> list[UpdateStep]:
    """An epoch in steps of `together` batches, each of at most `tokens` tokens with its padding.

    Without `mixed` the order of the examples is kept, and only neighbours share a batch.
    """
    rng = np.random.default_rng(list(chance))
    order = rng.permutation(len(lengths)) if mixed else np.arange(len(lengths))
    batches: list[tuple[int, ...]] = []
    usual = int(np.median(lengths)) if len(lengths) else 1
    size = WINDOW * max(1, tokens // max(1, usual)) if mixed else max(1, len(order))
    for at in range(0, len(order), size):
        window = order[at : at + size]
        if mixed:
            window = window[np.argsort(-lengths[window] // ROUND, kind="stable")]
        cut = list(_cut(window, lengths, tokens))
        if mixed:
            rng.shuffle(cut)
        batches += cut
    return [UpdateStep(tuple(batches[at : at + together])) for at in range(0, len(batches), together)]


def _cut(rows: NDArray[np.int64], lengths: NDArray[np.int64], tokens: int) -> Iterator[tuple[int, ...]]:
    """Runs of rows that fit together; one that is too long by itself is alone."""
    held: list[int] = []
    longest = 0
    for row in rows.tolist():
        longer = max(longest, -(-int(lengths[row]) // ROUND) * ROUND)
        if held and longer * (len(held) + 1) > tokens:
            yield tuple(held)
            held, longer = [], -(-int(lengths[row]) // ROUND) * ROUND
        held.append(row)
        longest = longer
    if held:
        yield tuple(held)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainSettings:
    """How to train: `tokens` are those of a batch with its padding; `together` batches on each device make a step."""

    rate: float = 3e-4
    decay: float = 0.01
    warm_up: float = 0.03
    clip: float = 1.0
    schedule: Literal["cosine", "plateau"] = "cosine"
    tokens: int = 32_768
    together: int = 1
    half: bool = True
    compiled: bool = False
    seed: int = 0
    log_every: int = 10
    keep_every: int = 0
    """Steps between checkpoints; with 0 they are kept at the ends of stages alone."""
    seconds: float | None = None
    """Stop after so long, the schedule following the clock rather than the tokens."""


@dataclass(frozen=True, slots=True)
class TrainStage:
    """Examples that are trained on before the next stage's, so often or until there were so many tokens of them.

    `mixed` ones come in an order by lot, others in their own.
    """

    name: str
    examples: TrainExamples
    epochs: int = 1
    tokens: int | None = None
    mixed: bool = True

    @property
    def budget(self) -> int:
        """The tokens that it takes."""
        return self.tokens if self.tokens is not None else self.epochs * int(self.examples.lengths.sum())


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step and where it stands: its stage, the tokens planned before it, and whether the stage ends with it."""

    stage: int
    step: UpdateStep
    before: int
    last: bool


def train(
    model: nn.Module,
    stages: Sequence[TrainStage],
    settings: TrainSettings,
    log: LogEntryWriter,
    *,
    evaluate: Evaluate | None = None,
    keeper: Checkpoints | None = None,
    optimise: Callable[[nn.Module, TrainSettings], Any] | None = None,
) -> Totals:
    """Train a model through stages, from its checkpoint where there is one; `evaluate` is asked after each stage.

    `optimise` makes another optimizer than AdamW. A stage is kept before it is evaluated, and the evaluation is asked
    for again when it is taken up from there; where that finds nothing, nothing is written down.
    """
    torch.manual_seed(settings.seed)
    # A batch without pictures leaves the eye's weights alone, which other processes may train in the same step.
    accelerator = Accelerator(kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)])
    model.to(accelerator.device).train()
    optimiser = (optimise or _adamw)(model, settings)
    before = dict(keeper.restore(model, optimiser) or {}) if keeper else {}
    unasked = before.pop("unasked", "")
    totals = Totals(**before)
    if settings.compiled:
        compile_blocks(model)
    prepared, optimiser = accelerator.prepare(model, optimiser)
    whole = sum(stage.budget for stage in stages)
    clock = _Clock(totals.seconds)
    log = log if accelerator.is_main_process else _silent

    def ask(stage: str) -> None:
        if evaluate is not None and accelerator.is_main_process:
            found = dict(_asked(evaluate, stage, model, clock))
            if found:
                log({"step": totals.steps, "stage": stage, "evaluation": found})

    if unasked:
        ask(unasked)
    losses: list[Tensor] = []
    together = settings.together * accelerator.num_processes
    for place, batches in _loaded(islice(_plan(stages, settings, together), totals.steps, None), stages):
        share = clock.seconds / settings.seconds if settings.seconds else place.before / whole
        over = settings.seconds is not None and share >= 1
        if not over:
            rate = settings.rate * rate_at(share, settings)
            losses.append(_update(accelerator, prepared, optimiser, batches, rate, settings))
            totals.steps += 1
            totals.tokens += sum(batch.tokens for batch in batches)
            totals.said += sum(batch.said for batch in batches)
        ends, name = over or place.last, stages[place.stage].name
        keeps = keeper is not None and (ends or _due(totals.steps, settings.keep_every))
        # A checkpoint comes with a line, so that no line spans it and a restart writes the same ones.
        if losses and (ends or keeps or _due(totals.steps, settings.log_every)):
            totals.seconds = clock.seconds
            loss = float(accelerator.reduce(torch.stack(losses).mean(), "sum"))
            losses.clear()
            log({"step": totals.steps, "stage": name, "loss": loss, "rate": rate, **asdict(totals)})
        if keeper and keeps and accelerator.is_main_process:
            totals.seconds = clock.seconds
            keeper.keep(model, optimiser, {**asdict(totals), "unasked": name if ends else ""})
        if ends:
            ask(name)
        if over:
            break
    totals.seconds = clock.seconds
    return totals


def _silent(entry: Mapping[str, Any]) -> None:
    """Of several processes, one writes."""


def rate_at(share: float, settings: TrainSettings) -> float:
    """The share of the highest learning rate at a share of the way: up in a line, then down a cosine.

    Or level, and down in a line in the last fifth.
    """
    up = min(1.0, share / settings.warm_up) if settings.warm_up else 1.0
    if settings.schedule == "plateau":
        return max(0.01, min(up, 5 * (1 - share)))
    return max(0.01, up * (0.5 + 0.5 * math.cos(math.pi * min(1.0, share))))


def compile_blocks(model: nn.Module) -> None:
    """Compile the blocks that a model repeats: quicker than the whole of it, and as fast to run.

    A block that can't be compiled on some machine runs as it is.
    """
    import torch._dynamo
    import torch._inductor.config
    import torch.fx.experimental._config

    torch._dynamo.config.suppress_errors = True
    # Sizes that are the same in one batch need not be in the next.
    torch.fx.experimental._config.use_duck_shape = False
    # Of shapes that change from batch to batch, this analysis of inductor's has failed.
    torch._inductor.config.triton.coalesce_tiling_analysis = False
    names = set(getattr(model, "_no_split_modules", None) or ())
    for module in model.modules():
        if type(module).__name__ in names:
            module.compile(dynamic=True)


class _Clock:
    """Seconds of training, those before a restart included, and those of evaluations left out."""

    def __init__(self, before: float) -> None:
        self._from = time.monotonic() - before

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._from

    def leave_out(self, seconds: float) -> None:
        self._from += seconds


def _asked(evaluate: Evaluate, stage: str, model: nn.Module, clock: _Clock) -> Mapping[str, Any]:
    begun = clock.seconds
    model.eval()
    found = evaluate(stage, model)
    model.train()
    clock.leave_out(clock.seconds - begun)
    return found


def _due(steps: int, every: int) -> bool:
    return every > 0 and steps % every == 0


def _adamw(model: nn.Module, settings: TrainSettings) -> Any:
    """Matrices decay; norms, biases and other vectors do not."""
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    groups: list[dict[str, Any]] = [
        {"params": [weight for weight in trained if weight.ndim > 1], "weight_decay": settings.decay},
        {"params": [weight for weight in trained if weight.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings.rate, betas=BETAS, fused=True)


def _plan(stages: Sequence[TrainStage], settings: TrainSettings, together: int) -> Iterator[PlannedStep]:
    """All steps in order; a stage's examples are first asked for when its turn comes."""
    before = 0
    for number, stage in enumerate(stages):
        here = 0
        for epoch in count():
            lengths = stage.examples.lengths
            steps = steps_of(
                lengths,
                tokens=settings.tokens,
                together=together,
                chance=(settings.seed, number, epoch),
                mixed=stage.mixed,
            )
            for step in steps:
                tokens = sum(int(lengths[list(rows)].sum()) for rows in step.batches)
                yield PlannedStep(number, step, before + here, here + tokens >= stage.budget)
                here += tokens
                if here >= stage.budget:
                    break
            if here >= stage.budget or not steps:
                break
        before += here


def _loaded(
    places: Iterable[PlannedStep], stages: Sequence[TrainStage]
) -> Iterator[tuple[PlannedStep, list[TrainBatch]]]:
    """The batches of each step, made ready a few steps ahead while the device is busy."""

    def load(place: PlannedStep) -> list[TrainBatch]:
        return [stages[place.stage].examples.batch(rows) for rows in place.step.batches]

    with ThreadPoolExecutor(1) as pool:
        ready: list[tuple[PlannedStep, Future[list[TrainBatch]]]] = []
        for place in places:
            ready.append((place, pool.submit(load, place)))
            if len(ready) > _AHEAD:
                first, batches = ready.pop(0)
                yield first, batches.result()
        for first, batches in ready:
            yield first, batches.result()


def _update(
    accelerator: Any,
    model: nn.Module,
    optimiser: Any,
    batches: Sequence[TrainBatch],
    rate: float,
    settings: TrainSettings,
) -> Tensor:
    """One step; its loss is the mean over all tokens that are said in it, however they are spread over batches."""
    for group in optimiser.param_groups:
        group["lr"] = rate
    said = max(1, sum(batch.said for batch in batches))
    total = torch.zeros((), device=accelerator.device)
    for batch, counts in _mine(batches, accelerator.process_index, accelerator.num_processes):
        inputs = {name: value.to(accelerator.device, non_blocking=True) for name, value in batch.inputs.items()}
        labels = batch.labels.to(accelerator.device, non_blocking=True)
        with torch.autocast(accelerator.device.type, torch.bfloat16, enabled=settings.half):
            logits = model(**inputs, use_cache=False).logits
        loss = functional.cross_entropy(
            logits[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten(), ignore_index=IGNORED, reduction="sum"
        )
        loss = loss * (counts / said)
        # Gradients are averaged over processes, but the mean is over the tokens of them all.
        accelerator.backward(loss * accelerator.num_processes)
        total += loss.detach()
    accelerator.clip_grad_norm_(model.parameters(), settings.clip)
    optimiser.step()
    optimiser.zero_grad()
    return total


def _mine(batches: Sequence[TrainBatch], process: int, processes: int) -> Iterator[tuple[TrainBatch, float]]:
    """A process's part of a step; where there is none left for it, one that counts for nothing, so that none waits."""
    for at in range(0, len(batches), processes):
        there = at + process < len(batches)
        yield batches[at + process if there else at], float(there)
