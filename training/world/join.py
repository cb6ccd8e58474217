"""Scenes and words in one space: what the reader saw in a picture lies near what is said of it. And their relations."""

from __future__ import annotations

import json
import math
from pathlib import Path

import torch
from common import DEVICE, SEED, Average, Pictures, keep, load, schedule, shares
from network import KINDS, Reader, Relations, SceneEncoder, Sizes, TextEncoder, Words
from reader import see
from torch import Tensor, nn
from torch.nn import functional as F


def train_join(cache: Path, out: Path, minutes: float, batch: int, steps: int | None) -> None:
    torch.manual_seed(SEED)
    reader = load(Reader(), out / "reader.pt")
    sets = [seen_in(reader, Pictures(cache / name)) for name in ("wide", "high")]
    data = {name: torch.cat([part[name] for part in sets]) for name in sets[0]}
    held = seen_in(reader, Pictures(cache / "wide-held"))
    sizes = Sizes()
    words = Words(sizes)
    scene, text = SceneEncoder(sizes, words).to(DEVICE), TextEncoder(sizes, words).to(DEVICE)
    both = nn.ModuleDict({"scene": scene, "text": text})
    warmth = nn.Parameter(torch.tensor(math.log(1 / 0.07), device=DEVICE))
    average = Average(both)
    optimiser = torch.optim.AdamW([*both.parameters(), warmth], lr=1e-3, weight_decay=0.02)
    count = len(data["things"])
    for step, share in enumerate(shares(minutes * 60, steps)):
        schedule(optimiser, share, 1e-3)
        # Runs of three neighbours keep a picture and its twin in the same batch.
        rows = (
            3 * torch.randint(count // 3, (batch // 3, 1), device=DEVICE) + torch.arange(3, device=DEVICE)
        ).flatten()
        which = torch.randint(data["words"].shape[1], (len(rows),), device=DEVICE)
        things = noisy(data["things"][rows])
        a = scene(things, data["whole"][rows], data["sign_words"][rows].long(), data["sign_grams"][rows].long())
        b = text(data["words"][rows, which].long(), data["grams"][rows, which].long())
        logits = (a @ b.T) * warmth.exp().clamp_max(100)
        # Pictures with an equal caption in the batch are no wrong answers to it.
        same = (data["words"][rows, which][:, None] == data["words"][rows, which][None]).all(-1)
        same.fill_diagonal_(False)
        logits = logits.masked_fill(same, -1e4)
        wanted = torch.arange(len(rows), device=DEVICE)
        loss = (F.cross_entropy(logits, wanted) + F.cross_entropy(logits.T, wanted)) / 2
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(both.parameters(), 1.0)
        optimiser.step()
        average.update(both)
        if step % 500 == 0:
            print(f"join step {step} ({share:.0%}) loss {float(loss):.4f}", flush=True)
        if step and step % 2000 == 0:
            print("join held out:", score_join(average.model, held), flush=True)
    keep(average.model, out / "join.pt")
    scores = score_join(average.model, held)
    print("join held out, at the end:", scores, flush=True)
    scores |= train_relations(data, held, out, steps or 4000)
    print("relations held out:", scores, flush=True)
    (out / "join.json").write_text(json.dumps(scores))


def seen_in(reader: nn.Module, pictures: Pictures) -> dict[str, Tensor]:
    """What the reader sees in all pictures, beside the words for them; the pixels are let go."""
    size = (pictures.pixels.shape[2], pictures.pixels.shape[1])
    things, whole = [], []
    for at in range(0, pictures.count, 512):
        rows = torch.arange(at, min(at + 512, pictures.count), device=DEVICE)
        x, _, _ = pictures.batch(rows)
        seen, scene = see(reader, x.contiguous(memory_format=torch.channels_last), size)
        things.append(seen.half())
        whole.append(scene)
    names = ("words", "grams", "sign_words", "sign_grams", "relations")
    truth = pictures.truth["things"]
    del pictures.pixels
    kept = {name: pictures.truth[name] for name in names}
    return {"things": torch.cat(things), "whole": torch.cat(whole), "truth": truth, **kept}


def noisy(things: Tensor) -> Tensor:
    """Now and then a thing is overlooked, and boxes are never quite right."""
    kept = torch.rand(things.shape[:2], device=things.device) > 0.03
    things = things.float()
    shifted = things[..., -5:-1] + 0.01 * torch.randn_like(things[..., -5:-1])
    return torch.cat([things[..., :-5], shifted, things[..., -1:]], -1) * kept[..., None]


@torch.no_grad()
def score_join(both: nn.Module, held: dict[str, Tensor], among: int = 999) -> dict[str, float]:
    """Short training captions → pictures, among 999; phrasings that are held out are tried by evaluate.py."""
    found = {1: 0.0, 5: 0.0, 10: 0.0}
    groups = len(held["things"]) // among
    for group in range(groups):
        rows = torch.arange(group * among, (group + 1) * among, device=DEVICE)
        signs = held["sign_words"][rows].long(), held["sign_grams"][rows].long()
        a = both["scene"](held["things"][rows].float(), held["whole"][rows], *signs)
        b = both["text"](held["words"][rows, 0].long(), held["grams"][rows, 0].long())
        logits = b @ a.T
        rank = (logits > logits.diagonal()[:, None]).sum(1)
        for k in found:
            found[k] += float((rank < k).float().mean()) / max(1, groups)
    return {f"recall@{k}": round(value, 4) for k, value in found.items()}


def pairs(data: dict[str, Tensor], rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What was seen in pictures, two by two: subjects, objects, and which relations are true of them."""
    seen, truth, related = data["things"][rows].float(), data["truth"][rows].float(), data["relations"][rows].long()
    n, count, _ = seen.shape
    a, b = seen[:, :, None, -5:-1], truth[:, None, :, 1:5]
    inner = (torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])).clamp_min(0).prod(-1)
    union = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).clamp_min(0).prod(-1) - inner
    kinds = seen[..., :KINDS].argmax(-1)
    same = (inner / union.clamp_min(1e-6)) * (kinds[:, :, None] == truth[:, None, :, 0]) * (seen[..., -1:] > 0)
    sure, which = same.max(2)
    table = torch.zeros(n, truth.shape[1], truth.shape[1], 4, device=DEVICE)
    there = related[..., 0] >= 0
    batch = torch.arange(n, device=DEVICE)[:, None].expand_as(there)[there]
    table[batch, related[..., 0][there], related[..., 2][there], related[..., 1][there]] = 1.0
    order = torch.arange(n, device=DEVICE)[:, None, None]
    labels = table[order, which[:, :, None], which[:, None, :]]
    matched = sure > 0.4
    use = matched[:, :, None] & matched[:, None, :] & ~torch.eye(count, dtype=torch.bool, device=DEVICE)
    subjects, objects = seen[:, :, None].expand(-1, -1, count, -1), seen[:, None].expand(-1, count, -1, -1)
    return subjects[use], objects[use], labels[use]


def train_relations(data: dict[str, Tensor], held: dict[str, Tensor], out: Path, steps: int) -> dict[str, float]:
    """A small network for relations; F1 of each on held-out pictures."""
    model = Relations().to(DEVICE)
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    for step in range(steps):
        schedule(optimiser, step / steps, 2e-3)
        subjects, objects, labels = pairs(data, torch.randint(len(data["things"]), (512,), device=DEVICE))
        loss = F.binary_cross_entropy_with_logits(model(subjects, objects), labels)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
    keep(model, out / "relations.pt")
    with torch.no_grad():
        subjects, objects, labels = pairs(held, torch.arange(len(held["things"]), device=DEVICE))
        guess = model(subjects, objects) > 0
    right, guessed, true = ((guess * labels).sum(0), guess.sum(0), labels.sum(0))
    f1 = 2 * right / (guessed + true).clamp_min(1)
    names = ("left of", "behind", "on", "holding")
    return {f"{name} F1": round(float(value), 4) for name, value in zip(names, f1, strict=True)}
