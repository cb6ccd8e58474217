"""How fast `sightline.train` trains Glimpse, beside a plain `transformers.Trainer` with the same model and data.

Run: PYTHONPATH=src python benchmarks/train.py [--tiny]   (needs torch, transformers, accelerate, and a GPU or --tiny)
Both get the same questions with all five steps, the same tokens a batch, bf16, AdamW (fused) and scaled-dot-product
attention, and hold encoded examples in memory. Ours sorts by length, keeps pictures on the device, leaves out the mask
that padding on the right does not need, and can compile; sorting and the mask are also left out in turn, to see what
they bring. Each line is printed as soon as it is known, what is compiled last. A speed is the median over spells of
ten steps after the first twenty, so that what is compiled or begun in some of them does not count.
Tokens are those of examples, without padding. The trunk of the eye is frozen, as in the experiment. Utilisation is
counted arithmetic over the peak: forward times three, of the trunk forward alone.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset
from torch.utils.flop_counter import FlopCounterMode
from transformers import Trainer, TrainerCallback, TrainingArguments

sys.path.insert(0, str(Path(__file__).parents[1] / "training/curriculum"))
from arms import text_of
from drawing import STEPS, Wanted, drawn

from sightline.train.examples import ArrayExamples, Batch
from sightline.train.glimpse import GlimpseForConditionalGeneration, glimpse_config
from sightline.train.glimpse_processor import learn_tokenizer
from sightline.train.loop import Settings, Stage, train
from sightline.train.peak import peak_of_gpu

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SPELL = 10 if DEVICE == "cuda" else 1
"""Steps that are timed together."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens of examples a second, after what is compiled or begun only once."""

    name: str
    tokens: float


@dataclass(slots=True)
class Watch:
    """Takes the time of each spell of steps, after the first ones."""

    first: int
    times: list[float] = field(default_factory=list)

    def at(self, step: int) -> None:
        if step >= self.first and step % SPELL == 0:
            if DEVICE == "cuda":
                torch.cuda.synchronize()
            self.times.append(time.perf_counter())

    def speed(self, tokens: Sequence[float]) -> float:
        """The median over spells, of which each had so many tokens."""
        spent = [after - before for before, after in pairwise(self.times)]
        return median(had / seconds for had, seconds in zip(tokens, spent, strict=True))


@dataclass(frozen=True, slots=True)
class Unsorted:
    """Our examples in batches as plain as the Trainer's: to see what sorting by length brings."""

    examples: ArrayExamples

    @property
    def lengths(self) -> Any:
        return self.examples.lengths * 0 + self.examples.lengths.max()

    def batch(self, rows: Sequence[int]) -> Batch:
        return self.examples.batch(rows)


def ours(
    name: str,
    model: GlimpseForConditionalGeneration,
    examples: Any,
    tokens: int,
    steps: tuple[int, int],
    compiled: bool,
) -> tuple[Speed, float]:
    """Our loop's speed, and how many tokens a batch has."""
    watch = Watch(steps[0])
    seen: dict[int, int] = {}

    def log(entry: Mapping[str, Any]) -> None:
        watch.at(entry["step"])
        seen[entry["step"]] = entry["tokens"]
        if entry["step"] >= steps[1]:
            raise _EnoughError

    settings = Settings(tokens=tokens, compiled=compiled, log_every=SPELL, half=DEVICE == "cuda")
    with suppress(_EnoughError):
        train(model, [Stage("all", examples, tokens=10**12)], settings, log)
    counts = [seen[step] for step in sorted(seen) if step >= steps[0]]
    done = [after - before for before, after in pairwise(counts)]
    return Speed(name, watch.speed(done)), sum(done) / (steps[1] - steps[0])


class _EnoughError(Exception):
    """The speed is known."""


class Rows(Dataset[dict[str, Tensor]]):
    """Encoded examples in memory, for the Trainer."""

    def __init__(self, examples: ArrayExamples) -> None:
        self.rows = []
        for row in range(len(examples)):
            batch = examples.batch([row])
            length = int(examples.lengths[row])
            self.rows.append(
                {
                    "input_ids": batch.inputs["input_ids"][0, :length].cpu(),
                    "labels": batch.labels[0, :length].cpu(),
                    "pixel_values": batch.inputs["pixel_values"].cpu().contiguous(),
                }
            )

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: int) -> dict[str, Tensor]:
        return self.rows[at]


@dataclass(frozen=True, slots=True)
class Pad:
    """Pads to the longest of a batch, as the collators of transformers do."""

    masked: bool

    def __call__(self, rows: list[dict[str, Tensor]]) -> dict[str, Tensor]:
        pad = torch.nn.utils.rnn.pad_sequence
        ids = pad([row["input_ids"] for row in rows], batch_first=True)
        found = {
            "input_ids": ids,
            "labels": pad([row["labels"] for row in rows], batch_first=True, padding_value=-100),
            "pixel_values": torch.cat([row["pixel_values"] for row in rows]),
        }
        if self.masked:
            ones = [torch.ones_like(row["input_ids"]) for row in rows]
            found["attention_mask"] = pad(ones, batch_first=True)
        return found


class Stop(TrainerCallback):
    """Tells the watch which step was done."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.watch.at(state.global_step)


def workers() -> int:
    """Processes that make the Trainer's batches; they hand over pictures through shared memory, where it is enough."""
    return 8 if DEVICE == "cuda" and shutil.disk_usage("/dev/shm").free > 4e9 else 0


def theirs(
    name: str,
    model: GlimpseForConditionalGeneration,
    rows: Rows,
    size: int,
    steps: tuple[int, int],
    pad: Pad,
    folder: Path,
) -> Speed:
    """The Trainer's speed."""
    watch = Watch(steps[0])
    arguments = TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=size,
        max_steps=steps[1],
        bf16=DEVICE == "cuda",
        optim="adamw_torch_fused",
        learning_rate=3e-4,
        logging_strategy="no",
        save_strategy="no",
        report_to=[],
        remove_unused_columns=False,
        dataloader_num_workers=workers(),
        disable_tqdm=True,
    )
    Trainer(model=model, args=arguments, train_dataset=rows, data_collator=pad, callbacks=[Stop(watch)]).train()
    mean = sum(len(row["input_ids"]) for row in rows.rows) / len(rows)
    return Speed(name, watch.speed([SPELL * size * mean] * (len(watch.times) - 1)))


def work(model: GlimpseForConditionalGeneration, examples: ArrayExamples) -> float:
    """Operations for a token: counted in a forward pass without padding, three times that for what is trained."""
    trunk = f"{type(model).__name__}.eye.trunk"
    rows = range(0, len(examples), max(1, len(examples) // 24))
    total = 0
    for row in rows:
        batch = examples.batch([row])
        length = int(examples.lengths[row])
        inputs = {**batch.inputs, "input_ids": batch.inputs["input_ids"][:, :length]}
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            model(**inputs, use_cache=False)
        fixed = sum(counter.get_flop_counts()[trunk].values())
        total += 3 * (counter.get_total_flops() - fixed) + fixed
    return total / sum(int(examples.lengths[row]) for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=3000)
    parser.add_argument("--tokens", type=int, default=32_768)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--cache", type=Path, default=Path("training/curriculum/cache"))
    parser.add_argument("--tiny", action="store_true", help="a try on a processor; its numbers mean nothing")
    chosen = parser.parse_args()
    if chosen.tiny:
        chosen.questions, chosen.tokens, chosen.steps = 24, 2048, 6
    folder = chosen.cache / f"benchmark-{chosen.questions}"
    drawing = drawn(DEVICE, Wanted(folder, "choose", chosen.questions, "benchmark"))
    texts = [text_of(item, (), STEPS) for item in drawing.items]
    tokenizer = learn_tokenizer(f"{text.prompt} {text.target}" for text in texts)
    examples = ArrayExamples(texts, tokenizer, drawing.pixels)
    rows = Rows(examples)
    steps = (chosen.steps // 6, chosen.steps)

    def fresh() -> GlimpseForConditionalGeneration:
        torch.manual_seed(0)
        config = glimpse_config(len(tokenizer), tiny=chosen.tiny, vision_frozen=True)
        return GlimpseForConditionalGeneration(config).to(DEVICE)

    each = work(fresh(), examples)
    cuda, peak = DEVICE == "cuda", peak_of_gpu()
    machine = torch.cuda.get_device_name() if cuda else "processor"
    print(f"{each / 1e6:.0f} M operations a token; the Trainer has {workers()} workers; {machine}", flush=True)
    first, batch = ours("sightline.train", fresh(), examples, chosen.tokens, steps, compiled=False)
    size = max(1, round(batch / float(examples.lengths.mean())))
    print(f"{examples.lengths.mean():.0f} tokens an example, {batch:,.0f} tokens a batch, {size} examples a batch")
    plain = theirs("transformers.Trainer", fresh(), rows, size, steps, Pad(masked=True), chosen.cache)

    def say(speed: Speed) -> None:
        share = f", {speed.tokens * each / peak:.1%} of the peak" if peak else ""
        times = speed.tokens / plain.tokens
        print(f"{speed.name:<32} {speed.tokens:>12,.0f} tokens/s  {times:.2f}x{share}", flush=True)

    say(plain)
    say(first)
    say(theirs("transformers.Trainer, no mask", fresh(), rows, size, steps, Pad(masked=False), chosen.cache))
    widest = size * (-(-int(examples.lengths.max()) // 64) * 64)
    say(ours("sightline.train, not sorted", fresh(), Unsorted(examples), widest, steps, compiled=False)[0])
    say(ours("sightline.train, compiled", fresh(), examples, chosen.tokens, steps, compiled=cuda)[0])


if __name__ == "__main__":
    main()
