"""Glimpse learns to tell what it sees: captions and simple questions, on pictures of the world.

Run (both packages: PYTHONPATH=src:packages/sightline-world/src):
  python training/curriculum/pretrain.py --out OUT [--seconds N] [--tiny]
Needs torch, transformers, accelerate, numpy and Pillow, and the weights of a reader (--eye; see training/world), whose
trunk becomes the eye. Writes to OUT:
  config.json, tokenizer.json, weights-*.npz   the model, in eight bits (see keeping.py)
  pretrain.json                                how well it answers on held-out pictures
  pretrain-log.jsonl                           the losses, and the same in short on the way
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import torch
from array_examples import ArrayExamples, TrainText
from choices import choices_of
from drawing import DESCRIBE, Drawing, Wanted, drawn
from eyesight import give_eye, name_things, order_numbers
from keeping import keep, load
from muon import muon

from sightline.reason.train.loop import TrainSettings, TrainStage, train
from sightline.reason.train.trainer import untracked
from sightline_world.models.glimpse import GlimpseForConditionalGeneration, glimpse_config, learn_tokenizer

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SIMPLE = (
    "what",
    "where",
    "left",
    "near",
    "row",
    "letters",
    "choose what",
    "choose where",
    "choose picture",
    "choose image",
)
"""Questions of which an answer is right or wrong as a whole."""


def texts_of(drawing: Drawing, *, apart: bool) -> list[tuple[str, TrainText]]:
    """What is learnt of each picture, with its kind: captions, of one or of all of a question, and answers.

    Questions are asked one by one, so that no answer can be taken from another. Only where all that stands in a picture
    was told are things compared in the same talk, as in the steps of a question; or (`apart`) not there either.
    """
    found = []
    for number, item in enumerate(drawing.items):
        if item.prompt:
            shown = "".join(f"({n}) <image>\n" for n in range(1, len(item.pictures) + 1))
            words = " ".join(f"({n}) {text}" for n, text in enumerate(item.captions, 1))
            found.append((f"captions: {item.subtask}", TrainText(f"{shown}{DESCRIBE}", words, tuple(item.pictures))))
        elif apart or number % 3 == 0:  # Captions of scenes are long: all of them would be most of what is said.
            found.append(("scene", TrainText(f"<image>\n{DESCRIBE}", item.captions[0], tuple(item.pictures))))
        compared: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for ask in item.asks if not apart else ():
            if ask.kind in ("left", "near"):
                compared[ask.picture].append((ask.question, ask.answer))
        for ask in item.asks:
            more = tuple(compared[ask.picture]) if ask.kind == "all" else ()
            found.append((ask.kind, TrainText(f"<image>\n{ask.question}", ask.answer, (ask.picture,), more)))
    found += choices_of([item for item in drawing.items if not item.prompt], "pretrain")
    return found


def vocabulary_of(drawing: Drawing) -> list[str]:
    """Everything that is said in a drawing, questions and steps included."""
    found = []
    for item in drawing.items:
        found += [item.prompt, *item.captions, *(text for texts in item.steps.values() for text in texts)]
        found += [f"{ask.question} {ask.answer}" for ask in item.asks]
    return found


def held_out(model: Any, kinds: list[str], examples: ArrayExamples, most: int) -> dict[str, dict[str, float]]:
    """Of the first so many examples, by kind: tokens, and whole answers, that are right when all before them is."""
    right: dict[str, list[tuple[float, float]]] = defaultdict(list)
    order = sorted(range(min(most, len(examples))), key=lambda row: int(examples.lengths[row]))
    model.eval()
    for at in range(0, len(order), 64):
        rows = order[at : at + 64]
        batch = examples.batch(rows)
        with untracked(), torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
            guessed = model(**batch.inputs, use_cache=False).logits[:, :-1].argmax(-1)
        wanted = batch.labels[:, 1:].to(guessed.device)
        said = wanted >= 0
        hit = ((guessed == wanted) & said).sum(1) / said.sum(1)
        for row, share in zip(rows, hit.tolist(), strict=True):
            right[kinds[row]].append((share, float(share == 1.0)))
    model.train()
    return {
        kind: {
            "tokens": round(sum(a for a, _ in found) / len(found), 4),
            "whole": round(sum(b for _, b in found) / len(found), 4),
            "n": len(found),
        }
        for kind, found in sorted(right.items())
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("training/curriculum/cache"))
    parser.add_argument("--base", type=Path, help="go on from what an earlier call wrote")
    parser.add_argument("--eye", type=Path, default=Path("training/world/cache/out/reader.pt"))
    parser.add_argument("--questions", type=int, default=12_000)
    parser.add_argument("--scenes", type=int, default=40_000)
    parser.add_argument("--seconds", type=float, default=400, help="of training")
    parser.add_argument("--until", type=float, default=550, help="seconds after which all of it must be over")
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--tokens", type=int, default=32_768, help="of a batch")
    parser.add_argument("--watch", type=int, default=500, help="steps between looks at some held-out pictures")
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--tiny", action="store_true", help="a try on a processor, in under a minute")
    chosen = parser.parse_args()
    if chosen.tiny:
        chosen.questions, chosen.scenes, chosen.tokens, chosen.seconds = 32, 32, 4096, 10
    return chosen


def main() -> None:
    chosen = arguments()
    chosen.out.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()

    def say(words: str) -> None:
        print(f"{time.monotonic() - started:6.1f} s  {words}", flush=True)

    held, learnt = drawings(chosen)
    say(f"{len(learnt.pixels)} pictures drawn")
    torch.manual_seed(0)
    if chosen.base is None:
        tokenizer = learn_tokenizer(vocabulary_of(held))
        config = glimpse_config(len(tokenizer), tiny=chosen.tiny, vision_frozen=True)
        model = GlimpseForConditionalGeneration(config)
        if not chosen.tiny:
            give_eye(model, chosen.eye)
        order_numbers(model, tokenizer)
        name_things(model, tokenizer)
    else:
        model, processor = load(chosen.base, DEVICE)
        tokenizer = processor.tokenizer
    model.to(DEVICE)
    held, learnt = held.looked_at(model), learnt.looked_at(model)
    say("looked at")
    trying, kinds = examples_of(held, tokenizer, apart=True, most=6000)
    training, _ = examples_of(learnt, tokenizer)
    weights = sum(weight.numel() for weight in model.parameters()) / 1e6
    say(f"{weights:.1f} M parameters and {len(tokenizer)} pieces of words on {DEVICE}")
    say(f"{len(training)} examples, {int(training.lengths.sum()) / 1e6:.1f} M tokens")
    # What comes after the training takes some 20 seconds.
    left = max(5.0, chosen.until - 25 - (time.monotonic() - started))
    settings = TrainSettings(
        rate=chosen.rate,
        decay=0.05,
        tokens=chosen.tokens,
        half=DEVICE == "cuda",
        compiled=chosen.compiled,
        log_every=100 if DEVICE == "cuda" else 5,
        seconds=min(chosen.seconds, left),
    )
    with (chosen.out / "pretrain-log.jsonl").open("w") as file:

        def log(entry: Mapping[str, Any]) -> None:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            if "loss" in entry:
                speed = entry["tokens"] / max(1e-9, entry["seconds"])
                say(f"step {entry['step']} loss {entry['loss']:.4f}, {speed / 1e3:.0f} k tokens/s")
                if entry["step"] % chosen.watch == 0:
                    found = held_out(model, kinds, trying, 1500)
                    file.write(json.dumps({"step": entry["step"], "held-out": found}) + "\n")
                    say(", ".join(_short(kind, found[kind]) for kind in SIMPLE if kind in found))

        totals = train(model, [TrainStage("pretrain", training, tokens=10**15)], settings, log, optimise=muon)
    keep(model, tokenizer, chosen.out)
    say("weights kept")
    scores = held_out(model, kinds, trying, len(kinds))
    report = {"pictures": len(learnt.pixels), **asdict(totals), "held-out": scores}
    (chosen.out / "pretrain.json").write_text(json.dumps(report, indent=1))
    for kind, found in scores.items():
        say(f"{kind:<40} tokens {found['tokens']:.3f}  whole {found['whole']:.3f}  n {found['n']}")


def _short(kind: str, score: Mapping[str, float]) -> str:
    return f"{kind} {score['whole']:.2f} ({score['tokens']:.2f})"


def drawings(chosen: argparse.Namespace) -> tuple[Drawing, Drawing]:
    """Held-out pictures, and those that are learnt from."""
    folder = chosen.cache / ("tiny" if chosen.tiny else "full")
    questions, scenes = (24, 16) if chosen.tiny else (600, 600)
    held = drawn(
        DEVICE,
        Wanted(folder / "held-questions", "choose", questions, "pretrain-held"),
        Wanted(folder / "held-scenes", "scene", scenes, "pretrain-held"),
    )
    learnt = drawn(
        DEVICE,
        Wanted(folder / "questions", "choose", chosen.questions, "pretrain"),
        Wanted(folder / "scenes", "scene", chosen.scenes, "pretrain"),
    )
    return held, learnt


def examples_of(
    drawing: Drawing, tokenizer: Any, *, apart: bool = False, most: int | None = None
) -> tuple[ArrayExamples, list[str]]:
    """Examples, and the kind of each."""
    texts = texts_of(drawing, apart=apart)
    if most is not None:
        texts = Random(0).sample(texts, min(most, len(texts)))
    return ArrayExamples([text for _, text in texts], tokenizer, drawing.pixels), [kind for kind, _ in texts]


if __name__ == "__main__":
    main()
