"""What stands where: the eye is taught on its own, by what it must tell of each part of a picture.

From captions alone it learns little for long: a wrong word says nothing of where to look. Here each of the 50 parts
must say whether something has its middle there, of which kind and colour it is, and where its box ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
import torch
from drawing import Drawing
from torch import Tensor, nn
from torch.nn import functional

from sightline.train.answering import untracked
from sightline.train.glimpse import COLUMNS, ROWS, TOKENS, GlimpseForConditionalGeneration
from sightline.train.loop import Settings, compile_blocks, rate_at
from sightline.types import SCENE_COLOURS, SCENE_KINDS

KINDS, COLOURS = len(SCENE_KINDS) + 1, len(SCENE_COLOURS)
BATCH = 1024


def targets_of(drawing: Drawing) -> tuple[Tensor, Tensor]:
    """Rows of pictures of which all is known, and for each of their parts: there, kind, colour, box (0 to 1)."""
    shown = [pair for item in drawing.items for pair in zip(item.pictures, item.things, strict=True)]
    known = [(number, things) for number, things in shown if things is not None]
    cells = np.zeros((len(known), TOKENS, 7), np.float32)
    for place, (_, things) in enumerate(known):
        for thing in sorted(things, key=_area):  # The largest comes last, and stays where two share a part.
            cells[place, _part(thing)] = (1.0, *thing)
    return torch.tensor([number for number, _ in known]), torch.from_numpy(cells)


def _area(thing: Sequence[float]) -> float:
    _, _, left, top, right, bottom = thing
    return (right - left) * (bottom - top)


def _part(thing: Sequence[float]) -> int:
    """The part of a picture in which a thing has its middle."""
    _, _, left, top, right, bottom = thing
    column = min(COLUMNS - 1, int((left + right) / 2 * COLUMNS))
    return min(ROWS - 1, int((top + bottom) / 2 * ROWS)) * COLUMNS + column


class Head(nn.Module):
    """What is told of each part; needed only while the eye is taught."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.out = nn.Linear(width, 1 + KINDS + COLOURS + 4)

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        there, kind, colour, box = self.out(seen).float().split([1, KINDS, COLOURS, 4], -1)
        return there.squeeze(-1), kind, colour, box


def loss_of(head: Head, seen: Tensor, cells: Tensor) -> Tensor:
    """Presence everywhere; kind, colour and box where something is."""
    there, kind, colour, box = head(seen)
    full = cells[..., 0] > 0
    wanted = cells[full]
    found = functional.binary_cross_entropy_with_logits(there, cells[..., 0])
    kinds = functional.cross_entropy(kind[full], wanted[:, 1].long())
    colours = functional.cross_entropy(colour[full], wanted[:, 2].long())
    return 5 * found + kinds + colours + 5 * functional.l1_loss(box[full], wanted[:, 3:])


def learn_to_see(
    model: GlimpseForConditionalGeneration,
    parts: Sequence[Drawing],
    held: Sequence[Drawing],
    seconds: float,
    settings: Settings,
    say: Callable[[str], None],
) -> dict[str, float]:
    """Teach the model's eye for so long; how well it sees held-out pictures."""
    device = parts[0].pixels.device
    model.to(device).train()
    head = Head(model.config.hidden_size).to(device)
    if settings.compiled:
        compile_blocks(model)
    known = [(part.pixels, *(one.to(device) for one in targets_of(part))) for part in parts]
    sizes = torch.tensor([float(len(rows)) for _, rows, _ in known])
    weights = [*model.eye.parameters(), *head.parameters()]
    optimiser = torch.optim.AdamW(weights, lr=settings.rate, betas=(0.9, 0.98), weight_decay=0.05, fused=True)
    batch = min(BATCH, int(sizes.min()))
    started, step, share = time.monotonic(), 0, 0.0
    while share < 1:
        for group in optimiser.param_groups:
            group["lr"] = settings.rate * rate_at(share, settings)
        pixels, rows, cells = known[int(torch.multinomial(sizes, 1))]
        some = torch.randint(len(rows), (batch,), device=device)
        with torch.autocast(device.type, torch.bfloat16, enabled=settings.half):
            seen = model.see(pixels[rows[some]].permute(0, 3, 1, 2))
        loss = loss_of(head, seen, cells[some])
        loss.backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        optimiser.zero_grad()
        if step % 200 == 0:
            say(f"seeing: step {step} loss {loss.item():.4f}")
        if step == 0:  # The first step compiles, which is no time for learning.
            started = time.monotonic()
        step += 1
        share = (time.monotonic() - started) / seconds
    found = _held_out(model, head, held, settings.half)
    say(f"seeing, held out after {step} steps: {found}")
    return found


def _held_out(
    model: GlimpseForConditionalGeneration, head: Head, held: Sequence[Drawing], half: bool
) -> dict[str, float]:
    """Where something is: kind and colour right, and the box's mean error; and how much of all is found (F1)."""
    right = {"kind": 0.0, "colour": 0.0, "box": 0.0}
    there_and_said = there = said = 0.0
    model.eval()
    for part in held:
        rows, cells = (one.to(part.pixels.device) for one in targets_of(part))
        for at in range(0, len(rows), 256):
            wanted = cells[at : at + 256]
            with untracked(), torch.autocast(rows.device.type, torch.bfloat16, enabled=half):
                seen = model.see(part.pixels[rows[at : at + 256]].permute(0, 3, 1, 2))
                found, kind, colour, box = head(seen)
            full = wanted[..., 0] > 0
            right["kind"] += float((kind[full].argmax(-1) == wanted[full][:, 1]).sum())
            right["colour"] += float((colour[full].argmax(-1) == wanted[full][:, 2]).sum())
            right["box"] += float((box[full] - wanted[full][:, 3:]).abs().mean(-1).sum())
            there_and_said += float(((found > 0) & full).sum())
            there += float(full.sum())
            said += float((found > 0).sum())
    model.train()
    scores = {name: round(value / there, 4) for name, value in right.items()}
    return {**scores, "found": round(2 * there_and_said / max(1.0, there + said), 4)}
