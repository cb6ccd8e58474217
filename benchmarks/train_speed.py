"""How fast `sightline.reason.train` trains a ViT with an LLM of 357 million parameters, beside `transformers.Trainer`.

Run (both packages: PYTHONPATH=src:packages/sightline-world/src):
  python benchmarks/train_speed.py [--steps 40] [--rounds 2] [--tiny]   (torch, transformers, accelerate; GPU or --tiny)
LLaVA with random weights: ViT-B/16 (196 patches) and a Llama of 16 layers, 1,024 wide. Both get the same drawn
examples: one picture and 40 to 1,200 tokens of text (log-normal, as answers are), as many examples a batch, bf16, fused
AdamW, scaled-dot-product attention. Ours sorts by length and needs no mask; compiled as well. They take turns, in
rounds, of which the first is cold. Tokens are those of examples, without padding; MFU is counted arithmetic (three
times a forward pass) over the device's peak.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.flop_counter import FlopCounterMode
from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaForConditionalGeneration

from sightline.reason.train.examples import IGNORED, ROUND, TrainBatch
from sightline.reason.train.loop import steps_of

sys.path.insert(0, str(Path(__file__).parent))
from train import DEVICE, PEER, Rows, Unsorted, in_rounds, ours, report, theirs

WORDS, IMAGE, SIDE, PATCH = 32_000, 31_999, 224, 16
PATCHES = (SIDE // PATCH) ** 2


def config(tiny: bool) -> LlavaConfig:
    eye, words = (
        ({"hidden_size": 64, "num_hidden_layers": 1}, {"hidden_size": 64, "num_hidden_layers": 2})
        if tiny
        else ({"hidden_size": 768, "num_hidden_layers": 12}, {"hidden_size": 1024, "num_hidden_layers": 16})
    )
    heads = {"num_attention_heads": max(1, words["hidden_size"] // 64)}
    return LlavaConfig(
        vision_config=CLIPVisionConfig(
            **eye, image_size=SIDE, patch_size=PATCH, intermediate_size=4 * eye["hidden_size"],
            num_attention_heads=max(1, eye["hidden_size"] // 64),
        ),
        text_config=LlamaConfig(
            **words, **heads, num_key_value_heads=heads["num_attention_heads"], vocab_size=WORDS,
            intermediate_size=11 * words["hidden_size"] // 4, max_position_embeddings=4096,
        ),
        image_token_index=IMAGE, vision_feature_layer=-1, image_seq_length=PATCHES,
    )  # fmt: skip


class Drawn:
    """Examples by lot: a picture, a prompt, and an answer of any length; pixels lie in memory, in half precision."""

    def __init__(self, count: int, longest: int) -> None:
        rng = np.random.default_rng(0)
        words = np.clip(np.exp(rng.normal(5.5, 0.8, count)), 40, longest).astype(np.int64)
        self.lengths: NDArray[np.int64] = words + PATCHES
        self._ids = [torch.from_numpy(rng.integers(10, IMAGE - 1, size)) for size in words]
        self._pixels = torch.rand((min(count, 256), 3, SIDE, SIDE), dtype=torch.bfloat16)

    def __len__(self) -> int:
        return len(self._ids)

    def batch(self, rows: Sequence[int]) -> TrainBatch:
        whole = int(self.lengths[list(rows)].max())
        ids = torch.zeros((len(rows), -(-whole // ROUND) * ROUND), dtype=torch.long)
        labels = torch.full_like(ids, IGNORED)
        for at, row in enumerate(rows):
            length = int(self.lengths[row])
            ids[at, :PATCHES] = IMAGE
            ids[at, PATCHES:length] = labels[at, PATCHES:length] = self._ids[row]
            labels[at, PATCHES : PATCHES + 20] = IGNORED  # The prompt.
        pixels = self._pixels[[row % len(self._pixels) for row in rows]]
        tokens = int(self.lengths[list(rows)].sum())
        inputs = {"input_ids": ids.to(DEVICE), "pixel_values": pixels.to(DEVICE)}
        return TrainBatch(inputs, labels.to(DEVICE), tokens, tokens - len(rows) * (PATCHES + 20))


def operations(model: Any, examples: Drawn) -> float:
    """Operations for a token: three times a forward pass without padding."""
    rows = range(0, len(examples), max(1, len(examples) // 12))
    total = 0
    for row in rows:
        inputs = examples.batch([row]).inputs
        inputs["input_ids"] = inputs["input_ids"][:, : int(examples.lengths[row])]
        with FlopCounterMode(display=False) as counter, torch.no_grad(), torch.autocast(DEVICE, torch.bfloat16):
            model(**inputs, use_cache=False)
        total += 3 * counter.get_total_flops()
    return total / sum(int(examples.lengths[row]) for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=40, help="of each in a round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=32_768, help="of a batch, with its padding")
    parser.add_argument("--tiny", action="store_true", help="a try on a processor; its numbers mean nothing")
    chosen = parser.parse_args()
    if chosen.tiny:
        chosen.tokens, chosen.steps, chosen.rounds = 2048, 3, 2
    examples = Drawn(24 if chosen.tiny else 3000, 200 if chosen.tiny else 1200)

    def fresh() -> Any:
        torch.manual_seed(0)
        return LlavaForConditionalGeneration(config(chosen.tiny)).to(DEVICE)

    model = fresh()
    each = operations(model, examples)
    size = max(1, round(len(examples) / len(steps_of(examples.lengths, tokens=chosen.tokens, chance=(0,)))))
    widest = size * (-(-int(examples.lengths.max()) // ROUND) * ROUND)
    machine = torch.cuda.get_device_name() if DEVICE == "cuda" else "processor"
    count = sum(weight.numel() for weight in model.parameters())
    print(
        f"{machine}, torch {torch.__version__}; {count / 1e6:.0f} M parameters, {each / 1e6:.0f} M operations a token"
    )
    print(f"{examples.lengths.mean():.0f} tokens an example, {size} examples a batch", flush=True)
    del model
    rows, last, compiled = Rows(examples), chosen.steps, DEVICE == "cuda"
    with tempfile.TemporaryDirectory() as folder:
        runners = {
            PEER: lambda: theirs(fresh(), rows, size, last, True, Path(folder)),
            "sightline.reason.train, not sorted": lambda: ours(fresh(), Unsorted(examples), widest, last),
            "sightline.reason.train": lambda: ours(fresh(), examples, chosen.tokens, last),
            "sightline.reason.train, compiled": lambda: ours(fresh(), examples, chosen.tokens, last, compiled),
        }
        report(in_rounds(runners, chosen.rounds), each)


if __name__ == "__main__":
    main()
