"""Does the order matter? Arms and seeds, each trained on as many tokens, asked the same held-out questions.

Run (both packages: PYTHONPATH=src:packages/sightline-world/src):
  python training/curriculum/experiment.py --out OUT [--base FOLDER] [--done FOLDER] [--beside N]
Needs torch, transformers, accelerate, numpy and Pillow. FOLDER is what pretrain.py wrote. With --variants it runs those
of variants.toml, else what --arms, --seeds and the settings say. Writes to OUT:
  questions.json   the held-out questions: id, subtask, level, answer
  runs.jsonl       a line for each evaluation: arm, seed, stage, mode, letters chosen, some words, tokens, seconds
What stands in the runs.jsonl of --done is not run again; `write_up.py` makes tables and plots of it. So small a model
should not fill a GPU by itself: --beside trains several at a time, each in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from arms import ARMS, LATER, Setting, stages_of, text_of, variants
from array_examples import ArrayExamples
from asking import said_together
from drawing import STEPS, Drawing, Wanted, items_of, looked_at_once
from keeping import load
from levels import HALVES, answered_by, learnt_by, measured
from muon import muon
from scores import mode_of
from torch import nn

from sightline.reason.train.loop import TrainSettings, train
from sightline.reason.train.trainer import chosen_option

Run = tuple[str, int, Setting]
"""An arm, a seed and a setting."""
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SUBTASKS = 12
MODES = {"chain": STEPS, "direct": STEPS[-1:]}


@dataclass(slots=True)
class Asker:
    """The held-out questions, and how a model is asked them."""

    drawing: Drawing
    tokenizer: Any
    most: int
    together: int = 400

    def ask(self, model: nn.Module, mode: str, count: int) -> dict[str, Any]:
        """The letters that it chooses, all by itself, with the steps before its conclusion or without; and how it goes.

        Of the first questions, one of each subtask, its words are kept.
        """
        texts = [text_of(item, (), MODES[mode]) for item in self.drawing.items[:count]]
        examples = ArrayExamples(texts, self.tokenizer, self.drawing.pixels)
        order = sorted(range(count), key=lambda row: int(examples.read[row]))
        letters, told = [""] * count, [""] * count
        for at in range(0, count, self.together):
            rows = order[at : at + self.together]
            most = self.most if mode == "chain" else 64
            words = said_together(model, self.tokenizer, examples.prompts(rows), most, half=DEVICE == "cuda")
            for row, text in zip(rows, words, strict=True):
                letters[row], told[row] = chosen_option(text, self.drawing.items[row].options), text
        return {"mode": mode, "letters": "".join(letters), "words": told[:SUBTASKS]}


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
    """What the runs of one process share."""

    base: Path
    pool_of: Callable[[int], Drawing]
    """So many questions to learn from."""
    asker: Asker
    tokens: int
    compiled: bool
    curve: int
    first: int
    """The seed with which all arms of several stages are asked after each; for the others only MIR's is."""
    levels: Path
    """Rows of arms that answered the questions to learn from (levels.py)."""
    naturals: dict[int, int] = field(default_factory=dict)
    """The tokens that MIR's plan takes by itself, of so many questions."""

    def run(self, arm: str, seed: int, setting: Setting) -> list[dict[str, Any]]:
        """Train one arm from the base and ask it: after each stage in short, at the end in full."""
        model, _ = load(self.base, DEVICE)
        if arm in HALVES:
            return [self._answered(model, arm, seed, setting)]
        rows: list[dict[str, Any]] = []
        totals: dict[str, Any] = {"tokens": 0, "seconds": 0.0, "losses": []}
        if arm != "base":
            totals = self._train(model, arm, self._pool(setting), seed, setting, rows)
        model.eval()
        count = len(self.asker.drawing.items)
        rows.append({"stage": "end", **self.asker.ask(model, "direct", count)})
        rows.append({"stage": "end", **self.asker.ask(model, "chain", count), **totals, "last": True})
        return [{"arm": arm, "seed": seed, "setting": asdict(setting), **row} for row in rows]

    def _answered(self, model: nn.Module, arm: str, seed: int, setting: Setting) -> dict[str, Any]:
        """What a model answers to half of the questions that learnt from the others; the row of such an arm."""
        whole = self.pool_of(setting.questions)
        learnt, asked = (Drawing(half(arm, whole.items), whole.pixels) for half in (learnt_by, answered_by))
        totals = self._train(model, "plain", learnt, seed, setting, [])
        asker = replace(self.asker, drawing=asked)
        found = asker.ask(model.eval(), "direct", len(asked.items))
        told = {"stage": "end", "mode": found["mode"], "letters": found["letters"], "last": True}
        return {"arm": arm, "seed": seed, "setting": asdict(setting), **totals, "losses": [], **told}

    def _pool(self, setting: Setting) -> Drawing:
        whole = self.pool_of(setting.questions)
        return replace(whole, items=measured(whole.items, self.levels)) if setting.by == "model" else whole

    def _budget(self, pool: Drawing, setting: Setting) -> int:
        """All arms get what MIR's plan takes by itself of so many questions, so many times."""
        count = setting.questions
        if count not in self.naturals:
            plan = stages_of("mir", self.pool_of(count), Setting(count), 0, self.asker.tokenizer, None)
            self.naturals[count] = sum(stage.budget for stage in plan)
        return round(setting.passes * self.naturals[count] * len(pool.items) / count)

    def _train(
        self, model: nn.Module, arm: str, pool: Drawing, seed: int, setting: Setting, rows: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Train through an arm's stages; a row for each stage where there are several, and what it took."""
        stages = stages_of(arm, pool, setting, seed, self.asker.tokenizer, self._budget(pool, setting))
        settings = TrainSettings(
            rate=setting.rate,
            # One that falls all the way would teach least what comes last, and so decide about orders.
            schedule="plateau",
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
                if entry["step"] % 1000 == 0:
                    print(f"  {arm} {seed}: step {entry['step']}, {entry['seconds']:.0f} s, loss {entry['loss']:.4f}")

        def evaluate(stage: str, now: nn.Module) -> Mapping[str, Any]:
            if stage == stages[-1].name:  # It is asked all of them, right after this.
                return {}
            count = min(len(self.asker.drawing.items), self.curve)
            rows.append({"stage": stage, **self.asker.ask(now, "chain", count)})
            return {}

        # To answer at once is taught by a last stage alone, so there is nothing to ask before.
        watched = len(stages) > 1 and mode_of(arm) == "chain" and (seed == self.first or arm == "mir")
        done = train(model, stages, settings, log, evaluate=evaluate if watched else None, optimise=muon)
        return {"tokens": done.tokens, "said": done.said, "seconds": round(done.seconds, 2), "losses": losses}


_here: list[Experiment] = []
"""The experiment of this process, once it has begun."""


def _begin(chosen: argparse.Namespace) -> None:
    model, processor = load(chosen.base, DEVICE)

    def looked_at(wanted: Wanted) -> Drawing:
        # In a file that all processes share: on the device there is no room for so many copies.
        return Drawing(items_of(wanted), torch.from_numpy(np.load(looked_at_once(wanted, model), mmap_mode="c")))

    @cache
    def pool_of(questions: int) -> Drawing:
        return looked_at(pool_wanted(chosen, questions))

    asker = Asker(looked_at(held_wanted(chosen)), processor.tokenizer, chosen.most)
    shared = (chosen.tokens, chosen.compiled, chosen.curve, chosen.seeds[0], chosen.levels)
    _here.append(Experiment(chosen.base, pool_of, asker, *shared))


def _run(arm: str, seed: int, setting: Setting) -> list[dict[str, Any]]:
    return _here[0].run(arm, seed, setting)


def held_wanted(chosen: argparse.Namespace) -> Wanted:
    """The held-out questions, or those that choices are made by."""
    asked = "tried" if chosen.trying else "held"
    return Wanted(_folder(chosen) / f"{asked}-asked", "choose", chosen.held, f"curriculum-{asked}")


def pool_wanted(chosen: argparse.Namespace, questions: int) -> Wanted:
    """So many questions to learn from."""
    return Wanted(_folder(chosen) / "pool", "choose", questions, "curriculum")


def _folder(chosen: argparse.Namespace) -> Path:
    folder: Path = chosen.cache / ("tiny" if chosen.tiny else "full")
    return folder


def runs_of(chosen: argparse.Namespace) -> list[Run]:
    """All that is to be run, seeds inside for variants, where each is of use by itself, else outside: whenever it
    stops, all arms have as many. The base is the same for all.
    """
    if chosen.variants:
        tiny = {"questions": chosen.questions, "passes": 1.0} if chosen.tiny else {}
        tried = [(arms, replace(setting, **tiny)) for arms, setting in variants()]
        return [(arm, seed, setting) for arms, setting in tried for seed in chosen.seeds for arm in arms]
    first = chosen.seeds[0]
    return [
        (arm, seed, Setting(chosen.questions, chosen.easy_below, chosen.fraction, rate, chosen.passes))
        for seed in chosen.seeds
        for rate in chosen.rate
        for arm in chosen.arms
        if arm != "base" or (seed, rate) == (first, chosen.rate[0])
    ]


def share(letters: str, answers: Sequence[str]) -> float:
    """How many of the letters are right."""
    return sum(a == b for a, b in zip(letters, answers, strict=False)) / max(1, len(letters))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, default=Path("training/curriculum/cache/base"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--done", type=Path, help="a folder with the runs.jsonl of earlier calls")
    parser.add_argument("--cache", type=Path, default=Path("training/curriculum/cache"))
    parser.add_argument("--arms", nargs="+", default=["base", *ARMS], choices=["base", *ARMS, *LATER, *HALVES])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--questions", type=int, default=Setting().questions)
    parser.add_argument("--easy-below", type=float, default=Setting().easy_below)
    parser.add_argument("--fraction", type=float, default=Setting().fraction)
    parser.add_argument(
        "--rate", nargs="+", type=float, default=[Setting().rate], help="one, or several to choose from"
    )
    parser.add_argument(
        "--levels", type=Path, default=Path(__file__).parent / "results/levels.jsonl", help="rows of half-0 and half-1"
    )
    parser.add_argument("--variants", action="store_true", help="those of variants.toml, not --arms and settings")
    parser.add_argument("--trying", action="store_true", help="ask other questions than those that decide")
    parser.add_argument("--passes", type=float, default=Setting().passes)
    parser.add_argument("--held", type=int, default=1200)
    parser.add_argument("--curve", type=int, default=400, help="questions that are asked after each stage")
    parser.add_argument("--tokens", type=int, default=8192, help="of a batch")
    parser.add_argument("--most", type=int, default=560, help="tokens that an answer may have")
    parser.add_argument("--until", type=float, default=560, help="no run is begun that would end later, in seconds")
    parser.add_argument("--beside", type=int, default=1, help="runs at a time")
    parser.add_argument("--compiled", action="store_true")
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

    journal = Journal(chosen.out / "runs.jsonl")
    journal.take(chosen.done)
    left = [run for run in runs_of(chosen) if not journal.has(*run)]
    model, _ = load(chosen.base, DEVICE)
    looked_at_once(held_wanted(chosen), model)
    for questions in sorted({setting.questions for _, _, setting in left}):
        looked_at_once(pool_wanted(chosen, questions), model)
    del model
    torch.cuda.empty_cache()
    held = items_of(held_wanted(chosen))
    answers = [item.answer for item in held]
    say(f"{len(left)} runs, {len(held)} questions held out")
    about = [{"id": i.id, "subtask": i.subtask, "level": i.level, "answer": i.answer} for i in held]
    (chosen.out / "questions.json").write_text(json.dumps(about))
    for (arm, seed, setting), rows in done_beside(chosen, left, started):
        if isinstance(rows, str):
            say(f"{arm} {seed} ({setting}) failed: {rows}")
            continue
        for row in rows:
            journal.add(row)
        own = answers
        if arm in HALVES:
            own = [item.answer for item in answered_by(arm, items_of(pool_wanted(chosen, setting.questions)))]
        scores = ", ".join(f"{row['mode']} {share(row['letters'], own):.3f}" for row in rows[-2:])
        say(f"{arm} {seed} ({setting}): {scores}; trained {rows[-1]['seconds']} s")
    missing = [run for run in left if not journal.has(*run)]
    say(f"{len(missing)} runs wait for the next call: give this call's output as --done" if missing else "all are done")


def done_beside(
    chosen: argparse.Namespace, runs: Sequence[Run], started: float
) -> Iterator[tuple[Run, list[dict[str, Any]] | str]]:
    """The rows of each run as it ends, or why it failed; none is begun that would not end in time, by the longest."""
    waiting, longest = list(runs), 0.0
    begun: dict[Future[list[dict[str, Any]]], tuple[Run, float]] = {}
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(chosen.beside, spawn, initializer=_begin, initargs=(chosen,)) as pool:
        while waiting or begun:
            while waiting and len(begun) < chosen.beside:
                if time.monotonic() - started + longest > chosen.until:
                    waiting.clear()
                    break
                run = waiting.pop(0)
                begun[pool.submit(_run, *run)] = run, time.monotonic()
            for ended in wait(begun, return_when=FIRST_COMPLETED).done:
                run, at = begun.pop(ended)
                longest = max(longest, time.monotonic() - at)
                fault = ended.exception()
                yield run, ended.result() if fault is None else f"{type(fault).__name__}: {fault}"


if __name__ == "__main__":
    main()
