"""Glimpse learns to see: first what stands where, then captions and simple questions, on pictures of the world.

Run: PYTHONPATH=src python training/curriculum/pretrain.py --out OUT [--seeing N] [--seconds N] [--tiny]
Needs torch, transformers, accelerate, numpy and Pillow. Writes to OUT:
  config.json, tokenizer.json, weights-*.npz   the model, in eight bits (see keeping.py)
  pretrain.json                                how well it sees and answers on held-out pictures
  pretrain-log.jsonl                           the losses
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any

import torch
from drawing import DESCRIBE, Drawing, drawn
from keeping import keep, load
from seeing import learn_to_see

from sightline.train.answering import untracked
from sightline.train.examples import ArrayExamples, Text
from sightline.train.glimpse import GlimpseForConditionalGeneration, glimpse_config
from sightline.train.glimpse_processor import learn_tokenizer
from sightline.train.loop import Settings, Stage, train

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def texts_of(drawing: Drawing, *, apart: bool) -> list[tuple[str, Text]]:
    """What is learnt of each picture, with its kind: captions, of one or of all of a question, and answers.

    Some questions about one picture are asked together, so that it is looked at once for them; or each `apart`.
    """
    rng = Random(1)
    found = []
    for item in drawing.items:
        if item.prompt:
            shown = "".join(f"({n}) <image>\n" for n in range(1, len(item.pictures) + 1))
            words = " ".join(f"({n}) {text}" for n, text in enumerate(item.captions, 1))
            found.append((f"captions: {item.subtask}", Text(f"{shown}{DESCRIBE}", words, tuple(item.pictures))))
        else:
            found.append(("scene", Text(f"<image>\n{DESCRIBE}", item.captions[0], tuple(item.pictures))))
        for number in item.pictures:
            asks = [ask for ask in item.asks if ask.picture == number]
            while asks:
                several = 1 if apart else rng.randint(1, 6)
                some, asks = asks[:several], asks[several:]
                question, answer = (
                    " ".join(words) for words in zip(*((a.question, a.answer) for a in some), strict=True)
                )
                found.append((some[0].kind, Text(f"<image>\n{question}", answer, (number,))))
    return found


def vocabulary_of(drawing: Drawing) -> list[str]:
    """Everything that is said in a drawing, questions and steps included."""
    found = []
    for item in drawing.items:
        found += [item.prompt, *item.captions, *(text for texts in item.steps.values() for text in texts)]
        found += [f"{ask.question} {ask.answer}" for ask in item.asks]
    return found


def held_out(model: Any, kinds: list[str], examples: ArrayExamples) -> dict[str, dict[str, float]]:
    """By kind: how many tokens, and how many whole answers, are right when what comes before them is."""
    right: dict[str, list[tuple[float, float]]] = defaultdict(list)
    order = sorted(range(len(examples)), key=lambda row: int(examples.lengths[row]))
    for at in range(0, len(order), 64):
        rows = order[at : at + 64]
        batch = examples.batch(rows)
        with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
            guessed = model(**batch.inputs, use_cache=False).logits[:, :-1].argmax(-1)
        wanted = batch.labels[:, 1:].to(guessed.device)
        said = wanted >= 0
        hit = ((guessed == wanted) & said).sum(1) / said.sum(1)
        for row, share in zip(rows, hit.tolist(), strict=True):
            right[kinds[row]].append((share, float(share == 1.0)))
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
    parser.add_argument("--questions", type=int, default=30_000)
    parser.add_argument("--scenes", type=int, default=36_000)
    parser.add_argument("--seeing", type=float, default=120, help="seconds for what stands where; 0 for none")
    parser.add_argument("--seconds", type=float, default=400, help="for captions and questions")
    parser.add_argument("--until", type=float, default=550, help="seconds after which all of it must be over")
    parser.add_argument("--rate", type=float, default=8e-4)
    parser.add_argument("--tokens", type=int, default=65_536)
    parser.add_argument("--eager", action="store_true", help="do not compile")
    parser.add_argument("--tiny", action="store_true", help="a try on a processor, in under a minute")
    chosen = parser.parse_args()
    if chosen.tiny:
        chosen.questions, chosen.scenes, chosen.tokens = 96, 64, 4096
        chosen.seeing, chosen.seconds = 8, 12
    return chosen


def main() -> None:
    chosen = arguments()
    chosen.out.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()

    def say(words: str) -> None:
        print(f"{time.monotonic() - started:6.1f} s  {words}", flush=True)

    size = "tiny" if chosen.tiny else "full"
    held = [
        drawn(chosen.cache / size / "held-questions", "choose", 24 if chosen.tiny else 1200, "pretrain-held", DEVICE),
        drawn(chosen.cache / size / "held-scenes", "scene", 16 if chosen.tiny else 600, "pretrain-held", DEVICE),
    ]
    torch.manual_seed(0)
    if chosen.base is None:
        tokenizer = learn_tokenizer(text for part in held for text in vocabulary_of(part))
        model = GlimpseForConditionalGeneration(glimpse_config(len(tokenizer), tiny=chosen.tiny))
    else:
        model, processor = load(chosen.base, DEVICE)
        tokenizer = processor.tokenizer
    trying, kinds = examples_of(held, tokenizer, apart=True, most=6000)
    size_of = sum(weight.numel() for weight in model.parameters()) / 1e6
    say(f"{size_of:.1f} M parameters and {len(tokenizer)} pieces of words on {DEVICE}")
    settings = Settings(
        rate=chosen.rate,
        decay=0.05,
        tokens=chosen.tokens,
        half=DEVICE == "cuda",
        compiled=DEVICE == "cuda" and not chosen.eager,
        log_every=100 if DEVICE == "cuda" else 5,
    )
    parts = [
        drawn(chosen.cache / size / "questions", "choose", chosen.questions, "pretrain", DEVICE),
        drawn(chosen.cache / size / "scenes", "scene", chosen.scenes, "pretrain", DEVICE),
    ]
    say(f"{sum(len(part.pixels) for part in parts)} pictures drawn")
    seen = learn_to_see(model, parts, held, chosen.seeing, settings, say) if chosen.seeing else None
    training, _ = examples_of(parts, tokenizer)
    say(f"{len(training)} examples, {int(training.lengths.sum()) / 1e6:.1f} M tokens")
    # What comes after the training takes some 20 seconds.
    left = max(5.0, chosen.until - 25 - (time.monotonic() - started))
    settings = replace(settings, seconds=min(chosen.seconds, left))
    with (chosen.out / "pretrain-log.jsonl").open("w") as file:

        def log(entry: Mapping[str, Any]) -> None:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            if "loss" in entry:
                speed = entry["tokens"] / max(1e-9, entry["seconds"])
                say(f"step {entry['step']} loss {entry['loss']:.4f}, {speed / 1e3:.0f} k tokens/s")

        totals = train(model, [Stage("pretrain", training, tokens=10**15)], settings, log)
    keep(model, tokenizer, chosen.out)
    say("weights kept")
    model.eval()
    with untracked():
        scores = held_out(model, kinds, trying)
    report = {"pictures": sum(len(part.pixels) for part in parts), **asdict(totals), "seen": seen, "held-out": scores}
    (chosen.out / "pretrain.json").write_text(json.dumps(report, indent=1))
    for kind, found in scores.items():
        say(f"{kind:<40} tokens {found['tokens']:.3f}  whole {found['whole']:.3f}  n {found['n']}")


def examples_of(
    parts: list[Drawing], tokenizer: Any, *, apart: bool = False, most: int | None = None
) -> tuple[ArrayExamples, list[str]]:
    """Examples over the pictures of all parts, and the kind of each."""
    texts: list[tuple[str, Text]] = []
    at = 0
    for part in parts:
        texts += [(kind, text.moved(at)) for kind, text in texts_of(part, apart=apart)]
        at += len(part.pixels)
    if most is not None:
        texts = Random(0).sample(texts, min(most, len(texts)))
    pixels = torch.cat([part.pixels for part in parts])
    return ArrayExamples([text for _, text in texts], tokenizer, pixels), [kind for kind, _ in texts]


if __name__ == "__main__":
    main()
