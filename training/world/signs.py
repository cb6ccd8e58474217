"""The reader of signs: cut-outs → words, by CTC along the first line and then the second."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from common import DEVICE, SEED, Average, keep, schedule, shares
from network import LETTERS, SignReader
from torch import Tensor, nn
from torch.nn import functional as F


def train_signs(cache: Path, out: Path, minutes: float, batch: int, steps: int | None) -> None:
    torch.manual_seed(SEED)
    data = np.load(cache / "signs.npz")
    cuts = torch.from_numpy(data["cuts"]).to(DEVICE)
    labels = [torch.tensor([LETTERS.index(letter) + 1 for letter in word]) for word in data["words"]]
    lengths = torch.tensor([len(label) for label in labels], device=DEVICE)
    padded = nn.utils.rnn.pad_sequence(labels, batch_first=True).to(DEVICE)
    held = int(data["held"])  # The first ones are signs in whole pictures, and only those are scored.
    model = SignReader().to(DEVICE)
    average = Average(model)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.02)
    for step, share in enumerate(shares(minutes * 60, steps)):
        schedule(optimiser, share, 2e-3)
        rows = torch.randint(held, len(cuts), (batch,), device=DEVICE)
        # Gently at first: CTC says nothing at all for long where even plain letters are hard to see.
        x = shaken(cuts[rows][:, None].float() / 255, min(1.0, 0.2 + 3 * share))
        with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
            logits = model(x)
        logits = logits.float().log_softmax(-1).transpose(0, 1)
        times = torch.full((batch,), logits.shape[0], device=DEVICE)
        loss = F.ctc_loss(logits, padded[rows], times, lengths[rows], zero_infinity=True)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimiser.step()
        average.update(model)
        if step % 500 == 0:
            print(f"signs step {step} ({share:.0%}) loss {float(loss):.4f}", flush=True)
    with torch.no_grad():
        guesses = [
            collapse(row)
            for part in cuts[:held].split(256)
            for row in average.model(part[:, None].float() / 255).argmax(-1).tolist()
        ]
    exact = float(np.mean([guess == word for guess, word in zip(guesses, data["words"][:held], strict=True)]))
    print(f"signs held out: exact {exact:.4f} of {held}; of {len(cuts)} cut-outs", flush=True)
    keep(average.model, out / "signs.pt")
    (out / "signs.json").write_text(json.dumps({"exact": exact, "held_out": held, "cut_outs": len(cuts)}))


def shaken(x: Tensor, much: float) -> Tensor:
    """Cut a little differently, turned a little, in another light, some light on dark."""
    n = len(x)

    def by(spread: float) -> Tensor:
        return much * spread * torch.randn(n, device=x.device)

    angle, sx, sy = by(0.04), 1 + by(0.06), 1 + by(0.06)
    slope = x.shape[3] / x.shape[2]
    turn = torch.stack(
        [torch.stack([sx, -angle / slope, by(0.03)], 1), torch.stack([angle * slope, sy, by(0.03)], 1)], 1
    )
    x = F.grid_sample(x, F.affine_grid(turn, x.shape, align_corners=False), padding_mode="border", align_corners=False)
    flat = (n, 1, 1, 1)
    x = torch.where(torch.rand(flat, device=x.device) < 0.3, 1 - x, x)
    x = (x - 0.5) * (1 - much * (0.4 - 0.7 * torch.rand(flat, device=x.device))) + 0.5
    x = x + much * 0.2 * (torch.rand(flat, device=x.device) - 0.5)
    return (x + much * 0.03 * torch.randn_like(x)).clamp(0, 1)


def collapse(steps: list[int]) -> str:
    """CTC's reading: equal neighbours are one, blanks are nothing."""
    letters = [step for at, step in enumerate(steps) if step and (at == 0 or step != steps[at - 1])]
    return "".join(LETTERS[letter - 1] for letter in letters)
