"""How fast `sightline.reason.train` trains Glimpse, beside a plain `transformers.Trainer` with the same model and data.

Run (both packages: PYTHONPATH=src:packages/sightline-world/src):
  python benchmarks/train.py [--tiny]   (needs torch, transformers, accelerate, and a GPU or --tiny)
All get the same questions with all five steps, the same tokens a batch, bf16, AdamW (fused) and scaled-dot-product
attention, and hold encoded examples in memory. Ours sorts by length, keeps pictures on the device, leaves out the mask
that padding on the right does not need, and can compile; sorting and the mask are also left out in turn, to see what
they bring. They take turns, in rounds: in the first, shapes are new, and what is to be compiled is compiled. A speed is
the median over spells of ten steps after the first ten, and in the end the median over rounds. Tokens are those of
examples, without padding. The trunk of the eye is frozen, as in the experiment. Utilisation is counted arithmetic over
the peak: forward times three, of the trunk forward alone.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.utils.data import Dataset
from torch.utils.flop_counter import FlopCounterMode
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

sys.path.insert(0, str(Path(__file__).parents[1] / "training/curriculum"))
from arms import text_of
from array_examples import ArrayExamples
from drawing import STEPS, Wanted, drawn

from sightline.reason.train.examples import ROUND, TrainBatch
from sightline.reason.train.loop import TrainSettings, TrainStage, steps_of, train
from sightline.reason.train.trainer import peak_of_gpu
from sightline_world.models.glimpse import GlimpseForConditionalGeneration, glimpse_config, learn_tokenizer

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SPELL = 10 if DEVICE == "cuda" else 1
"""Steps that are timed together."""
PEER = "transformers.Trainer"


@dataclass(slots=True)
class Watch:
    """Takes the time of each spell of steps, after the first."""

    times: list[float] = field(default_factory=list)

    def at(self, step: int) -> None:
        if step % SPELL == 0:
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

    def batch(self, rows: Sequence[int]) -> TrainBatch:
        batch: TrainBatch = self.examples.batch(rows)
        return batch


def ours(
    model: GlimpseForConditionalGeneration, examples: Any, tokens: int, last: int, compiled: bool = False
) -> float:
    """Our loop's tokens a second."""
    watch = Watch()
    seen: list[int] = []

    def log(entry: Mapping[str, Any]) -> None:
        watch.at(entry["step"])
        seen.append(entry["tokens"])
        if entry["step"] >= last:
            raise _EnoughError

    settings = TrainSettings(tokens=tokens, compiled=compiled, log_every=SPELL, half=DEVICE == "cuda")
    with suppress(_EnoughError):
        train(model, [TrainStage("all", examples, tokens=10**12)], settings, log)
    return watch.speed([after - before for before, after in pairwise(seen)])


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
    model: GlimpseForConditionalGeneration, rows: Rows, size: int, last: int, masked: bool, folder: Path
) -> float:
    """The Trainer's tokens a second."""
    watch = Watch()
    arguments = TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=size,
        max_steps=last,
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
    trainer = Trainer(
        model=model, args=arguments, train_dataset=rows, data_collator=Pad(masked), callbacks=[Stop(watch)]
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    mean = sum(len(row["input_ids"]) for row in rows.rows) / len(rows)
    return watch.speed([SPELL * size * mean] * (len(watch.times) - 1))


@patch.dict("sightline_world.models.glimpse_vision._EVEN", clear=True)
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
    parser.add_argument("--steps", type=int, default=60, help="of each in a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cache", type=Path, default=Path("training/curriculum/cache"))
    parser.add_argument("--tiny", action="store_true", help="a try on a processor; its numbers mean nothing")
    chosen = parser.parse_args()
    if chosen.tiny:
        chosen.questions, chosen.tokens, chosen.steps, chosen.rounds = 24, 2048, 3, 2
    folder = chosen.cache / f"benchmark-{chosen.questions}"
    drawing = drawn(DEVICE, Wanted(folder, "choose", chosen.questions, "benchmark"))
    texts = [text_of(item, (), STEPS) for item in drawing.items]
    tokenizer = learn_tokenizer(f"{text.prompt} {text.target}" for text in texts)
    examples = ArrayExamples(texts, tokenizer, drawing.pixels)
    rows = Rows(examples)

    def fresh() -> GlimpseForConditionalGeneration:
        torch.manual_seed(0)
        config = glimpse_config(len(tokenizer), tiny=chosen.tiny, vision_frozen=True)
        model = GlimpseForConditionalGeneration(config)
        model.to(DEVICE)
        return model

    each = work(fresh(), examples)
    # As many examples as our batches have: all of them, over how many batches they make.
    size = max(1, round(len(examples) / len(steps_of(examples.lengths, tokens=chosen.tokens, chance=(0,)))))
    widest = size * (-(-int(examples.lengths.max()) // ROUND) * ROUND)
    machine = torch.cuda.get_device_name() if DEVICE == "cuda" else "processor"
    print(f"{machine}, torch {torch.__version__}; {each / 1e6:.0f} M operations a token, {size} examples a batch")
    print(f"{examples.lengths.mean():.0f} tokens an example; the Trainer has {workers()} workers", flush=True)
    last = chosen.steps
    runners = {
        PEER: lambda: theirs(fresh(), rows, size, last, True, chosen.cache),
        f"{PEER}, no mask": lambda: theirs(fresh(), rows, size, last, False, chosen.cache),
        "sightline.reason.train, not sorted": lambda: ours(fresh(), Unsorted(examples), widest, last),
        "sightline.reason.train": lambda: ours(fresh(), examples, chosen.tokens, last),
        "sightline.reason.train, compiled": lambda: ours(fresh(), examples, chosen.tokens, last, DEVICE == "cuda"),
    }
    report(in_rounds(runners, chosen.rounds), each)


def in_rounds(runners: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """The tokens a second of each, round by round."""
    found: dict[str, list[float]] = {name: [] for name in runners}
    for number in range(1, rounds + 1):
        for name, run in runners.items():
            found[name].append(run())
            print(f"round {number}: {name:<32} {found[name][-1]:>12,.0f} tokens/s", flush=True)
    return found


def report(found: Mapping[str, Sequence[float]], each: float) -> None:
    """The medians, how many times the Trainer's they are, and their share of what the device can do."""
    peak = peak_of_gpu()
    print(f"{'median':<34} {'tokens/s':>12}    x Trainer (least and most of a round)")
    for name, speeds in found.items():
        ratios = [speed / peer for speed, peer in zip(speeds, found[PEER], strict=True)]
        share = f", {median(speeds) * each / peak:.1%} of the peak" if peak else ""
        spread = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        print(f"{name:<34} {median(speeds):>12,.0f}    {spread}{share}")


if __name__ == "__main__":
    main()
