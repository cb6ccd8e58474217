"""How fast `sightline.train` trains Glimpse, beside a plain `transformers.Trainer` with the same model and data.

Run: PYTHONPATH=src python benchmarks/train.py [--tiny]   (needs torch, transformers, accelerate, and a GPU or --tiny)
Both get the same questions with all five steps, the same tokens a batch, bf16, AdamW (fused) and scaled-dot-product
attention, and hold encoded examples in memory. Ours sorts by length, keeps pictures on the device, leaves out the mask
that padding on the right does not need, and compiles; each of these is also left out in turn, to see what it brings.
Tokens are those of examples, without padding. Utilisation is counted arithmetic (forward times three) over the peak.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset
from torch.utils.flop_counter import FlopCounterMode
from transformers import Trainer, TrainerCallback, TrainingArguments

sys.path.insert(0, str(Path(__file__).parents[1] / "training/curriculum"))
from arms import text_of
from drawing import STEPS, drawn

from sightline.train.examples import ArrayExamples, Batch
from sightline.train.glimpse import GlimpseForConditionalGeneration, glimpse_config
from sightline.train.glimpse_processor import learn_tokenizer
from sightline.train.loop import Settings, Stage, train

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
PEAK = 989e12
"""Dense bf16 operations a second of an H200, by its datasheet."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens of examples a second, after what is compiled or begun only once."""

    name: str
    tokens: float


@dataclass(slots=True)
class Watch:
    """Takes the time from one step to another."""

    first: int
    last: int
    begun: float = 0.0
    ended: float = 0.0

    def at(self, step: int) -> None:
        if step in (self.first, self.last):
            if DEVICE == "cuda":
                torch.cuda.synchronize()
            if step == self.first:
                self.begun = time.perf_counter()
            else:
                self.ended = time.perf_counter()

    @property
    def seconds(self) -> float:
        return self.ended - self.begun


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
    watch = Watch(*steps)
    seen: dict[int, int] = {}

    def log(entry: Mapping[str, Any]) -> None:
        watch.at(entry["step"])
        seen[entry["step"]] = entry["tokens"]
        if entry["step"] >= steps[1]:
            raise _EnoughError

    settings = Settings(tokens=tokens, compiled=compiled, log_every=steps[0], half=DEVICE == "cuda")
    with suppress(_EnoughError):
        train(model, [Stage("all", examples, tokens=10**12)], settings, log)
    done = seen[steps[1]] - seen[steps[0]]
    return Speed(name, done / watch.seconds), done / (steps[1] - steps[0])


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
    watch = Watch(*steps)
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
        dataloader_num_workers=8 if DEVICE == "cuda" else 0,
        disable_tqdm=True,
    )
    Trainer(model=model, args=arguments, train_dataset=rows, data_collator=pad, callbacks=[Stop(watch)]).train()
    mean = sum(len(row["input_ids"]) for row in rows.rows) / len(rows)
    return Speed(name, (steps[1] - steps[0]) * size * mean / watch.seconds)


def work(model: GlimpseForConditionalGeneration, examples: ArrayExamples) -> float:
    """Operations for a token: counted in a forward pass without padding, three times that for the training."""
    rows = range(0, len(examples), max(1, len(examples) // 24))
    total = 0
    for row in rows:
        batch = examples.batch([row])
        length = int(examples.lengths[row])
        inputs = {**batch.inputs, "input_ids": batch.inputs["input_ids"][:, :length]}
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            model(**inputs, use_cache=False)
        total += counter.get_total_flops()
    return 3 * total / sum(int(examples.lengths[row]) for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=3000)
    parser.add_argument("--tokens", type=int, default=32_768)
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--cache", type=Path, default=Path("training/curriculum/cache"))
    parser.add_argument("--tiny", action="store_true", help="a try on a processor; its numbers mean nothing")
    chosen = parser.parse_args()
    if chosen.tiny:
        chosen.questions, chosen.tokens, chosen.steps = 24, 2048, 4
    drawing = drawn(chosen.cache / f"benchmark-{chosen.questions}", "choose", chosen.questions, "benchmark", DEVICE)
    texts = [text_of(item, (), STEPS) for item in drawing.items]
    tokenizer = learn_tokenizer(f"{text.prompt} {text.target}" for text in texts)
    examples = ArrayExamples(texts, tokenizer, drawing.pixels)
    rows = Rows(examples)
    steps = (chosen.steps // 4, chosen.steps)

    def fresh() -> GlimpseForConditionalGeneration:
        torch.manual_seed(0)
        return GlimpseForConditionalGeneration(glimpse_config(len(tokenizer), tiny=chosen.tiny)).to(DEVICE)

    each = work(fresh(), examples)
    compiled = DEVICE == "cuda"
    first, batch = ours("sightline.train", fresh(), examples, chosen.tokens, steps, compiled)
    size = max(1, round(batch / float(examples.lengths.mean())))
    print(f"{examples.lengths.mean():.0f} tokens an example, {batch:,.0f} tokens a batch, {size} examples a batch")
    plain = theirs("transformers.Trainer", fresh(), rows, size, steps, Pad(masked=True), chosen.cache)
    unsorted = Unsorted(examples)
    widest = size * (-(-int(examples.lengths.max()) // 64) * 64)
    found = [
        plain,
        first,
        theirs("transformers.Trainer, no mask", fresh(), rows, size, steps, Pad(masked=False), chosen.cache),
        ours("sightline.train, not compiled", fresh(), examples, chosen.tokens, steps, False)[0],
        ours("sightline.train, not sorted", fresh(), unsorted, widest, steps, compiled)[0],
    ]
    print(f"{each / 1e6:.0f} M operations a token; {torch.cuda.get_device_name() if compiled else 'processor'}")
    for speed in found:
        share = f", {speed.tokens * each / PEAK:.1%} of the peak" if compiled else ""
        print(f"{speed.name:<32} {speed.tokens:>12,.0f} tokens/s  {speed.tokens / plain.tokens:.2f}x{share}")


if __name__ == "__main__":
    main()
