"""The reader: pictures → things with their boxes and looks, place and light."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import torch
from common import DEVICE, SEED, Average, Pictures, keep, schedule, shares
from network import ATTRIBUTES, KINDS, PLACES, STRIDE, Reader
from torch import Tensor, nn
from torch.nn import functional as F

from pictures import SIGN

HIDDEN = 0.6
"""What is hidden by more may be seen, but need not be."""
SEEN = 20
"""Things of a picture that other models are told of, at most."""


def jitter(x: Tensor, things: Tensor, size: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """Small changes of brightness, contrast and colour; mirrored where no sign could be read the wrong way round."""
    n = len(x)
    gain = 1 + 0.16 * (torch.rand(n, 3, 1, 1, device=x.device) - 0.5)
    x = ((x - 0.5) * (1 + 0.3 * (torch.rand(n, 1, 1, 1, device=x.device) - 0.5)) + 0.5) * gain
    x = x + 0.12 * (torch.rand(n, 1, 1, 1, device=x.device) - 0.5)
    flip = (torch.rand(n, device=x.device) < 0.5) & ~(things[:, :, 0] == SIGN).any(1)
    wide, padded = size[0], x.shape[3]
    mirrored = torch.cat([x[..., :wide].flip(3), x[..., wide:padded]], 3)
    x = torch.where(flip[:, None, None, None], mirrored, x).clamp(0, 1)
    boxes = things[:, :, 1:5]
    there = things[:, :, 0] >= 0
    turned = torch.stack([1 - boxes[..., 2], boxes[..., 1], 1 - boxes[..., 0], boxes[..., 3]], -1)
    things = things.clone()
    things[:, :, 1:5] = torch.where((flip[:, None] & there)[..., None], turned, boxes)
    return x, things


def targets(things: Tensor, size: tuple[int, int], shape: tuple[int, int]) -> tuple[Tensor, Tensor, Tensor]:
    """Heat maps; for each thing its cell (flat) and its box in pixels."""
    high, wide = shape
    kinds, there = things[..., 0].long(), things[..., 0] >= 0
    boxes = things[..., 1:5] * torch.tensor([size[0], size[1]] * 2, device=things.device)
    x, y = (boxes[..., 0] + boxes[..., 2]) / 2 / STRIDE, (boxes[..., 1] + boxes[..., 3]) / 2 / STRIDE
    cx, cy = x.floor().clamp(0, wide - 1), y.floor().clamp(0, high - 1)
    sx = ((boxes[..., 2] - boxes[..., 0]) / STRIDE * 0.11).clamp_min(0.55)
    sy = ((boxes[..., 3] - boxes[..., 1]) / STRIDE * 0.11).clamp_min(0.55)
    gx = torch.exp(-((torch.arange(wide, device=things.device) - cx[..., None]) ** 2) / (2 * sx[..., None] ** 2))
    gy = torch.exp(-((torch.arange(high, device=things.device) - cy[..., None]) ** 2) / (2 * sy[..., None] ** 2))
    spots = (gy[..., :, None] * gx[..., None, :]) * there[..., None, None]
    heat = torch.zeros(len(things), KINDS, high, wide, device=things.device)
    index = kinds.clamp_min(0)[..., None, None].expand_as(spots)
    heat.scatter_reduce_(1, index, spots, "amax")
    return heat, (cy * wide + cx).long(), boxes


def reader_loss(model: nn.Module, x: Tensor, things: Tensor, whole: Tensor, size: tuple[int, int]) -> dict[str, Tensor]:
    with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
        heat_logits, boxes, attributes, scene = (out.float() for out in model(x))
    high, wide = heat_logits.shape[2:]
    heat, cells, truth = targets(things, size, (high, wide))
    there = things[..., 0] >= 0
    total = there.sum().clamp_min(1)
    log_p, log_n = F.logsigmoid(heat_logits), F.logsigmoid(-heat_logits)
    p = heat_logits.sigmoid()
    hot = heat >= 0.999
    focal = torch.where(hot, (1 - p) ** 2 * log_p, (1 - heat) ** 4 * p**2 * log_n)
    losses = {"heat": -focal.sum() / total}
    box_loss, attribute_loss = x.new_zeros(()), x.new_zeros(())
    for dy, dx, weight in ((0, 0, 1.0), (0, 1, 0.4), (0, -1, 0.4), (1, 0, 0.4), (-1, 0, 0.4)):
        row, column = (cells // wide + dy).clamp(0, high - 1), (cells % wide + dx).clamp(0, wide - 1)
        at = (row * wide + column)[:, None]
        mine = boxes.flatten(2).gather(2, at.expand(-1, 4, -1)).transpose(1, 2) * 32
        px, py = (column + 0.5) * STRIDE, (row + 0.5) * STRIDE
        guess = torch.stack([px - mine[..., 0], py - mine[..., 1], px + mine[..., 2], py + mine[..., 3]], -1)
        box_loss = box_loss + weight * ((1 - giou(guess, truth)) * there).sum() / total
        box_loss = (
            box_loss + weight * 0.02 * (F.smooth_l1_loss(guess, truth, reduction="none").sum(-1) * there).sum() / total
        )
        logits = attributes.flatten(2).gather(2, at.expand(-1, attributes.shape[1], -1)).transpose(1, 2)
        first = 0
        for number, (_, count) in enumerate(ATTRIBUTES):
            wanted = things[..., 5 + number].long()
            entropy = F.cross_entropy(
                logits[..., first : first + count].reshape(-1, count),
                wanted.reshape(-1),
                ignore_index=-1,
                reduction="sum",
            )
            attribute_loss = attribute_loss + weight * entropy / (wanted >= 0).sum().clamp_min(1)
            first += count
    losses |= {"box": box_loss / 2.6, "attributes": attribute_loss / 2.6}
    losses["whole"] = F.cross_entropy(scene[:, :PLACES], whole[:, 0]) + F.cross_entropy(scene[:, PLACES:], whole[:, 1])
    return losses


def giou(a: Tensor, b: Tensor) -> Tensor:
    inner = (torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])).clamp_min(0).prod(-1)
    outer = (torch.maximum(a[..., 2:], b[..., 2:]) - torch.minimum(a[..., :2], b[..., :2])).clamp_min(0).prod(-1)
    union = (a[..., 2:] - a[..., :2]).clamp_min(0).prod(-1) + (b[..., 2:] - b[..., :2]).clamp_min(0).prod(-1) - inner
    return inner / union.clamp_min(1e-6) - (outer - union) / outer.clamp_min(1e-6)


def train_reader(cache: Path, out: Path, minutes: float, batch: int, steps: int | None) -> None:
    torch.manual_seed(SEED)
    sets = [Pictures(cache / name) for name in ("wide", "high")]
    held = [Pictures(cache / name) for name in ("wide-held", "high-held")]
    model = Reader().to(DEVICE, memory_format=torch.channels_last)
    average = Average(model)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.02, fused=DEVICE == "cuda")
    started, sums, seen = time.monotonic(), {}, 0
    for step, share in enumerate(shares(minutes * 60, steps)):
        schedule(optimiser, share, 3e-3)
        pictures = sets[0 if torch.rand(()) < 0.75 else 1]
        x, things, whole = pictures.batch(torch.randint(pictures.count, (batch,), device=DEVICE))
        size = (pictures.pixels.shape[2], pictures.pixels.shape[1])
        x, things = jitter(x, things, size)
        losses = reader_loss(model, x.contiguous(memory_format=torch.channels_last), things, whole, size)
        loss = losses["heat"] + 0.6 * losses["box"] + 0.5 * losses["attributes"] + 0.3 * losses["whole"]
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimiser.step()
        average.update(model)
        seen += batch
        if step % 200 == 0:
            sums = {name: round(float(value), 4) for name, value in losses.items()}
            print(
                f"reader step {step} ({share:.0%}, {seen / (time.monotonic() - started):.0f} pictures/s) {sums}",
                flush=True,
            )
        if step and step % 2000 == 0:
            print("reader held out:", score_reader(average.model, held[0]), flush=True)
    scores = {"wide": score_reader(average.model, held[0]), "high": score_reader(average.model, held[1])}
    print("reader, at the end:", json.dumps(scores), flush=True)
    keep(average.model, out / "reader.pt")
    (out / "reader.json").write_text(json.dumps({"pictures": seen, "scores": scores}, indent=1))


@torch.no_grad()
def see(model: nn.Module, x: Tensor, size: tuple[int, int], floor: float = 0.3) -> tuple[Tensor, Tensor]:
    """What is in pictures: rows of numbers (n, SEEN, DETECTION), and place and light (probabilities)."""
    with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
        heat, boxes, attributes, scene = (out.float() for out in model(x))
    heat = heat.sigmoid()
    high, wide = heat.shape[2:]
    peaks = heat * (F.max_pool2d(heat, 3, 1, 1) == heat)
    score, place = peaks.flatten(1).topk(2 * SEEN)
    cell = place % (high * wide)
    row, column = cell // wide, cell % wide
    take = lambda maps: maps.flatten(2).gather(2, cell[:, None].expand(-1, maps.shape[1], -1)).transpose(1, 2)  # noqa: E731
    kinds, sides = take(heat), take(boxes) * 32
    px, py = (column + 0.5) * STRIDE, (row + 0.5) * STRIDE
    corners = torch.stack([px - sides[..., 0], py - sides[..., 1], px + sides[..., 2], py + sides[..., 3]], -1)
    score = suppress(score, corners, floor)
    parts, first, logits = [kinds], 0, take(attributes)
    for _, count in ATTRIBUTES:
        parts.append(logits[..., first : first + count].softmax(-1))
        first += count
    scale = torch.tensor([size[0], size[1]] * 2, device=x.device)
    rows = torch.cat([*parts, (corners / scale).clamp(0, 1), score[..., None]], -1)
    order = score.argsort(1, descending=True)[:, :SEEN]
    rows = rows.gather(1, order[..., None].expand(-1, -1, rows.shape[2]))
    rows = rows * (rows[..., -1:] > 0)
    whole = torch.cat([scene[:, :PLACES].softmax(-1), scene[:, PLACES:].softmax(-1)], 1)
    return rows, whole


def suppress(score: Tensor, boxes: Tensor, floor: float, overlap: float = 0.65) -> Tensor:
    """Scores, with zero for what is below the floor or almost equal to a surer thing."""
    count = score.shape[1]
    inner = (
        (
            torch.minimum(boxes[:, :, None, 2:], boxes[:, None, :, 2:])
            - torch.maximum(boxes[:, :, None, :2], boxes[:, None, :, :2])
        )
        .clamp_min(0)
        .prod(-1)
    )
    area = (boxes[..., 2:] - boxes[..., :2]).clamp_min(0).prod(-1)
    same = inner / (area[:, :, None] + area[:, None, :] - inner).clamp_min(1e-6) > overlap
    kept = score >= floor
    for at in range(1, count):  # Scores come in falling order.
        kept[:, at] &= ~(same[:, at, :at] & kept[:, :at]).any(1)
    return score * kept


def matches(ours: list[tuple[int, int]], theirs: list[tuple[int, int]]) -> int:
    """How many items two lists have in common."""
    return (Counter(ours) & Counter(theirs)).total()


@torch.no_grad()
def score_reader(model: nn.Module, pictures: Pictures) -> dict[str, float]:
    """Object + colour F1, count accuracy and the rest, on pictures that were never trained on."""
    model.eval()
    right = guessed = true = counted = counts = places = lights = total = 0
    size = (pictures.pixels.shape[2], pictures.pixels.shape[1])
    for at in range(0, pictures.count, 256):
        rows = torch.arange(at, min(at + 256, pictures.count), device=DEVICE)
        x, things, whole = pictures.batch(rows)
        seen, scene = see(model, x, size, 0.4)
        places += int((scene[:, :PLACES].argmax(1) == whole[:, 0]).sum())
        lights += int((scene[:, PLACES:].argmax(1) == whole[:, 1]).sum())
        total += len(rows)
        kinds = seen[..., :KINDS].argmax(-1).cpu().numpy()
        colours = seen[..., KINDS : KINDS + 11].argmax(-1).cpu().numpy()
        there = (seen[..., -1] > 0).cpu().numpy()
        wanted = things.cpu().numpy()
        for k, c, t, w in zip(kinds, colours, there, wanted, strict=True):
            ours = [(int(a), int(b)) for a, b, ok in zip(k, c, t, strict=True) if ok and a < SIGN]
            theirs = [(int(r[0]), int(r[5])) for r in w if 0 <= r[0] < SIGN and r[10] <= HIDDEN]
            barely = [(int(r[0]), int(r[5])) for r in w if 0 <= r[0] < SIGN and r[10] > HIDDEN]
            found = matches(ours, theirs)
            right, true = right + found, true + len(theirs)
            guessed += len(ours) - (matches(ours, theirs + barely) - found)
            for kind in {item[0] for item in theirs}:
                counts += 1
                least = sum(item[0] == kind for item in theirs)
                most = least + sum(item[0] == kind for item in barely)
                counted += least <= sum(item[0] == kind for item in ours) <= most
    precision, recall = right / max(1, guessed), right / max(1, true)
    return {
        "object_colour_f1": round(2 * precision * recall / max(1e-9, precision + recall), 4),
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "count": round(counted / max(1, counts), 4),
        "place": round(places / total, 4),
        "light": round(lights / total, 4),
    }
