"""Does the order matter? Arms and seeds, each trained on as many tokens, asked the same held-out questions.

Run: PYTHONPATH=src python training/curriculum/experiment.py --base FOLDER --out OUT [--done FOLDER] [--tiny]
Needs torch, transformers, accelerate, numpy and Pillow. FOLDER is what pretrain.py wrote. Writes to OUT:
  questions.json   the held-out questions: id, subtask, level, answer
  runs.jsonl       a line for each evaluation: arm, seed, stage, mode, the letters chosen, tokens and seconds
What stands in the runs.jsonl of --done is not run again; `write_up.py` makes tables and plots of it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from arms import ARMS, Setting, stages_of, text_of
from drawing import STEPS, Drawing, Drawn, drawn
from keeping import load
from torch import nn

from sightline.train.answering import letter, said, untracked
from sightline.train.examples import ArrayExamples, Text
from sightline.train.loop import Settings, train

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
MODES = {"chain": STEPS, "direct": STEPS[-1:]}
LETTERS = "ABCD"


@dataclass(slots=True)
class Asker:
    """The held-out questions, and how a model is asked them."""

    drawing: Drawing
    tokenizer: Any
    most: int
    together: int = 1200

    def ask(self, model: nn.Module, mode: str, count: int) -> str:
        """The letters that it chooses: all by itself in both modes, with the steps before its conclusion or without."""
        texts = [text_of(item, (), MODES[mode]) for item in self.drawing.items[:count]]
        examples = ArrayExamples(texts, self.tokenizer, self.drawing.pixels)
        order = sorted(range(count), key=lambda row: int(examples.read[row]))
        found = [""] * count
        for at in range(0, count, self.together):
            rows = order[at : at + self.together]
            most = self.most if mode == "chain" else 64
            words = said(model, self.tokenizer, examples.prompts(rows), most, half=DEVICE == "cuda")
            for row, text in zip(rows, words, strict=True):
                found[row] = letter(text)
        return "".join(found)

    def force(self, model: nn.Module, count: int) -> str:
        """The likeliest of the four letters where it must name one at once: for a model that never learnt to answer."""
        keys = [self.tokenizer.encode(f" {key}", add_special_tokens=False)[0] for key in LETTERS]
        texts = [_begun(item) for item in self.drawing.items[:count]]
        examples = ArrayExamples(texts, self.tokenizer, self.drawing.pixels)
        found = ""
        for at in range(0, count, 64):
            rows = range(at, min(at + 64, count))
            batch = examples.batch(rows)
            ends = torch.from_numpy(examples.lengths[list(rows)] - 2)
            with untracked(), torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
                logits = model(**batch.inputs, use_cache=False).logits
            likely = logits[torch.arange(len(rows)), ends][:, keys].argmax(-1)
            found += "".join(LETTERS[number] for number in likely.tolist())
        return found


def _begun(item: Drawn) -> Text:
    asked = text_of(item, (), MODES["direct"])
    return Text(asked.prompt, "Conclusion: The answer is", asked.pictures)


@dataclass(slots=True)
class Journal:
    """Evaluations that are done, here or before; a run counts as done when its last line is there."""

    file: Path
    rows: list[dict[str, Any]] = field(default_factory=list)

    def take(self, before: Path | None) -> None:
        if before is not None and (before / "runs.jsonl").exists():
            rows = [json.loads(line) for line in (before / "runs.jsonl").read_text().splitlines()]
            whole = {_key(row) for row in rows if row.get("last")}
            for row in rows:
                if _key(row) in whole:
                    self.add(row)

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        with self.file.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def has(self, arm: str, seed: int, setting: Setting) -> bool:
        wanted = _key({"arm": arm, "seed": seed, "setting": asdict(setting)})
        return any(row.get("last") and _key(row) == wanted for row in self.rows)


def _key(row: Mapping[str, Any]) -> str:
    return json.dumps([row["arm"], row["seed"], row["setting"]], sort_keys=True)


@dataclass(slots=True)
class Experiment:
    """Everything that the runs share."""

    base: Path
    pool: Drawing
    asker: Asker
    journal: Journal
    setting: Setting
    tokens: int
    compiled: bool
    curve: int

    def budget(self) -> int:
        """What MIR's plan takes by itself; all arms get as much."""
        stages = stages_of("mir", self.pool, self.setting, 0, self.asker.tokenizer, None)
        return sum(stage.budget for stage in stages)

    def run(self, arm: str, seed: int, budget: int) -> None:
        """Train one arm from the base and ask it: after each stage in short, at the end in full."""
        model, _ = load(self.base, DEVICE)
        named = {"arm": arm, "seed": seed, "setting": asdict(self.setting)}
        count = len(self.asker.drawing.items)
        totals: dict[str, Any] = {"tokens": 0, "seconds": 0.0, "losses": []}
        if arm != "base":
            stages = stages_of(arm, self.pool, self.setting, seed, self.asker.tokenizer, budget)
            settings = Settings(
                rate=self.setting.rate,
                tokens=self.tokens,
                half=DEVICE == "cuda",
                seed=seed,
                compiled=self.compiled,
                log_every=50,
            )
            losses: list[tuple[int, str, float]] = []

            def log(entry: Mapping[str, Any]) -> None:
                if "loss" in entry:
                    losses.append((entry["tokens"], entry["stage"], round(entry["loss"], 4)))

            def evaluate(stage: str, now: nn.Module) -> Mapping[str, Any]:
                mode = "direct" if arm == "plain" else "chain"
                letters = self.asker.ask(now, mode, min(count, self.curve))
                self.journal.add({**named, "stage": stage, "mode": mode, "letters": letters})
                return {}

            done = train(model, stages, settings, log, evaluate=evaluate if len(stages) > 1 else None)
            totals = {"tokens": done.tokens, "said": done.said, "seconds": round(done.seconds, 2), "losses": losses}
        model.eval()
        self.journal.add({**named, "stage": "end", "mode": "forced", "letters": self.asker.force(model, count)})
        self.journal.add({**named, "stage": "end", "mode": "direct", "letters": self.asker.ask(model, "direct", count)})
        letters = self.asker.ask(model, "chain", count)
        self.journal.add({**named, "stage": "end", "mode": "chain", "letters": letters, **totals, "last": True})


def share(letters: str, items: Sequence[Drawn]) -> float:
    """How many of the letters are right."""
    return sum(a == item.answer for a, item in zip(letters, items, strict=False)) / max(1, len(letters))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, default=Path("training/curriculum/cache/base"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--done", type=Path, help="a folder with the runs.jsonl of earlier calls")
    parser.add_argument("--cache", type=Path, default=Path("training/curriculum/cache"))
    parser.add_argument("--arms", nargs="+", default=["base", *ARMS], choices=["base", *ARMS])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--questions", type=int, default=Setting().questions)
    parser.add_argument("--easy-below", type=float, default=Setting().easy_below)
    parser.add_argument("--fraction", type=float, default=Setting().fraction)
    parser.add_argument("--rate", type=float, default=Setting().rate)
    parser.add_argument("--held", type=int, default=1200)
    parser.add_argument("--curve", type=int, default=600, help="questions that are asked after each stage")
    parser.add_argument("--tokens", type=int, default=24_576, help="of a batch")
    parser.add_argument("--most", type=int, default=512, help="tokens that an answer may have")
    parser.add_argument("--until", type=float, default=560, help="no run is begun that would end later, in seconds")
    parser.add_argument("--eager", action="store_true", help="do not compile")
    parser.add_argument("--tiny", action="store_true", help="a try on a processor, in about a minute")
    chosen = parser.parse_args()
    if chosen.tiny:
        chosen.questions, chosen.held, chosen.curve, chosen.most, chosen.tokens = 24, 12, 12, 24, 4096
    return chosen


def main() -> None:
    chosen = arguments()
    chosen.out.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()

    def say(words: str) -> None:
        print(f"{time.monotonic() - started:6.1f} s  {words}", flush=True)

    size = "tiny" if chosen.tiny else "full"
    held = drawn(chosen.cache / size / "held-asked", "choose", chosen.held, "curriculum-held", DEVICE)
    pool = drawn(chosen.cache / size / "pool", "choose", chosen.questions, "curriculum", DEVICE)
    say(f"{len(pool.items)} questions to learn from, {len(held.items)} held out")
    about = [{"id": i.id, "subtask": i.subtask, "level": i.level, "answer": i.answer} for i in held.items]
    (chosen.out / "questions.json").write_text(json.dumps(about))
    journal = Journal(chosen.out / "runs.jsonl")
    journal.take(chosen.done)
    _, processor = load(chosen.base, DEVICE)
    asker = Asker(held, processor.tokenizer, chosen.most)
    setting = Setting(chosen.questions, chosen.easy_below, chosen.fraction, chosen.rate)
    compiled = DEVICE == "cuda" and not chosen.eager
    experiment = Experiment(chosen.base, pool, asker, journal, setting, chosen.tokens, compiled, chosen.curve)
    budget = experiment.budget()
    say(f"{budget / 1e6:.2f} M tokens for each arm")
    longest = 0.0
    # Seeds outside: whenever it stops, all arms have as many.
    for seed in chosen.seeds:
        for arm in chosen.arms:
            if journal.has(arm, seed, setting) or (arm == "base" and seed != chosen.seeds[0]):
                continue
            begun = time.monotonic() - started
            if begun + longest > chosen.until:
                say("the rest must wait for the next call: give this call's output as --done")
                return
            experiment.run(arm, seed, budget)
            longest = max(longest, time.monotonic() - started - begun)
            last = journal.rows[-3:]
            scores = ", ".join(f"{row['mode']} {share(row['letters'], held.items):.3f}" for row in last)
            say(f"{arm} {seed}: {scores}; trained {last[-1]['seconds']} s")
    say("all arms are done")


if __name__ == "__main__":
    main()
