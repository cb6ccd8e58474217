"""Train the head that joins an ImageNet classifier and MiniLM into one space for pictures and texts.

Run: python training/photos/train.py --data training/photos/cache --out src/sightline/models/photos/head.npz
     python training/photos/train.py --data training/photos/cache --hold-out     (to choose settings)
Needs torch and numpy alone. A run takes about 20 seconds on a GPU; without one, --set '{"epochs": 2}' tries it.

Pictures: the classifier's pooled features through small networks. Texts: MiniLM with low-rank corrections to its
layers, mean-pooled, through linear maps. Both are trained so that a picture lies near its captions and far from those
of all others in the batch. `--hold-out` trains without 1,000 training pictures and is scored on them; that is how
settings were chosen. The development split is only ever used to report.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

HEADS, LAYERS, WIDTH, POOLED, CLASSES = 12, 6, 384, 1280, 1000
PARTS = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
MASK = 103
CAPTIONS = 5
HELD_OUT = 1000


@dataclass(frozen=True)
class Settings:
    """What a run is made of; the defaults are those of the weights that are shipped."""

    dim: int = 512
    hidden: int = 768
    members: int = 2
    rank: int = 32
    epochs: int = 60
    batch: int = 1500
    captions: int = 2
    lr: float = 1e-3
    text_lr: float = 1e-3
    decay: float = 0.05
    dropout: float = 0.5
    input_dropout: float = 0.3
    noise: float = 0.2
    word_dropout: float = 0.1
    lora_dropout: float = 0.1
    temperature: float = 0.05
    ema: float = 0.97
    seed: int = 0


@dataclass(frozen=True)
class Joining:
    """As `sightline.models.photos.joint_vectors` has it: how a text weighs the head against the names of things."""

    temperature: float = 0.4
    sentence: float = 0.1
    name: float = 0.92
    near: float = 0.7
    same: float = 0.95

    def weight(self, likeness: Tensor) -> Tensor:
        part = ((likeness - self.near) / (self.same - self.near)).clamp(0, 1)
        return self.sentence + (self.name - self.sentence) * part


class Linear(nn.Module):
    """A frozen linear map with a trained low-rank correction."""

    def __init__(self, weight: Tensor, bias: Tensor, rank: int, dropout: float) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)
        self.down = nn.Parameter(torch.randn(rank, weight.shape[1]) / math.sqrt(weight.shape[1])) if rank else None
        self.up = nn.Parameter(torch.zeros(weight.shape[0], rank)) if rank else None
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        y = F.linear(x, self.weight, self.bias)
        if self.down is not None and self.up is not None:
            y = y + F.linear(F.linear(self.dropout(x), self.down), self.up)
        return y


class MiniLM(nn.Module):
    """all-MiniLM-L6-v2 in plain torch: word pieces (0 is padding) to mean-pooled vectors."""

    def __init__(self, weights: dict[str, Tensor], rank: int, dropout: float) -> None:
        super().__init__()
        for name, value in weights.items():
            if name.startswith("embeddings") or "LayerNorm" in name:
                self.register_buffer(name.replace(".", "_"), value)
        self.linears = nn.ModuleDict()
        for name in (f"encoder.layer.{layer}.{part}" for layer in range(LAYERS) for part in PARTS):
            linear = Linear(weights[f"{name}.weight"], weights[f"{name}.bias"], rank, dropout)
            self.linears[name.replace(".", "_")] = linear

    def norm(self, name: str, x: Tensor) -> Tensor:
        key = f"{name}.LayerNorm".replace(".", "_")
        return F.layer_norm(x, (WIDTH,), getattr(self, f"{key}_weight"), getattr(self, f"{key}_bias"), 1e-12)

    def forward(self, ids: Tensor) -> Tensor:
        there = ids != 0
        places = self.embeddings_position_embeddings_weight[: ids.shape[1]]
        x = self.embeddings_word_embeddings_weight[ids] + places + self.embeddings_token_type_embeddings_weight[0]
        x = self.norm("embeddings", x)
        mask = there[:, None, None, :]
        for layer in range(LAYERS):
            x = self.layer(f"encoder.layer.{layer}", x, mask)
        weight = there[..., None].to(x.dtype)
        return (x * weight).sum(1) / weight.sum(1).clamp(min=1)

    def layer(self, name: str, x: Tensor, mask: Tensor) -> Tensor:
        def apply(part: str, value: Tensor) -> Tensor:
            return self.linears[f"{name}.{part}".replace(".", "_")](value)

        q, k, v = (
            apply(f"attention.self.{part}", x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2)
        x = self.norm(f"{name}.attention.output", x + apply("attention.output.dense", mixed))
        return self.norm(f"{name}.output", x + apply("output.dense", F.gelu(apply("intermediate.dense", x))))


class PictureHead(nn.Module):
    """Pooled features to the shared space."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        self.into = nn.Linear(POOLED, s.hidden)
        self.out = nn.Linear(s.hidden, s.dim)
        self.input_dropout, self.dropout, self.noise = nn.Dropout(s.input_dropout), nn.Dropout(s.dropout), s.noise

    def forward(self, x: Tensor) -> Tensor:
        if self.training and self.noise:
            x = x + self.noise * torch.randn_like(x)
        return self.out(self.dropout(F.gelu(self.into(self.input_dropout(x)))))


class Model(nn.Module):
    """Several picture heads over one text encoder; similarities are averaged over the members."""

    def __init__(self, weights: dict[str, Tensor], s: Settings) -> None:
        super().__init__()
        self.text = MiniLM(weights, s.rank, s.lora_dropout)
        self.picture_heads = nn.ModuleList(PictureHead(s) for _ in range(s.members))
        self.text_heads = nn.ModuleList(nn.Linear(WIDTH, s.dim) for _ in range(s.members))
        self.text_dropout = nn.Dropout(0.1)
        self.scale = nn.Parameter(torch.tensor(math.log(1 / s.temperature)))

    def pictures(self, pooled: Tensor) -> Tensor:
        return torch.stack([F.normalize(head(pooled), dim=-1) for head in self.picture_heads])

    def texts(self, ids: Tensor) -> Tensor:
        pooled = F.normalize(self.text(ids), dim=-1) * math.sqrt(WIDTH)
        return torch.stack([F.normalize(head(self.text_dropout(pooled)), dim=-1) for head in self.text_heads])


class Data:
    """The prepared arrays on the device."""

    def __init__(self, folder: Path, device: str) -> None:
        self.device = device
        arrays = np.load(folder / "data.npz")

        def tensor(name: str, dtype: type) -> Tensor:
            return torch.tensor(arrays[name].astype(dtype), device=device)

        splits = ("train", "dev")
        self.tokens = {split: tensor(f"{split}_tokens", np.int64) for split in (*splits, "class")}
        pooled = {split: tensor(f"{split}_pooled", np.float32) for split in splits}
        self.mean, self.sd = pooled["train"].mean(0), pooled["train"].std(0).clamp(min=1e-3)
        self.pooled = {split: (value - self.mean) / self.sd for split, value in pooled.items()}
        self.classes = {split: tensor(f"{split}_class", np.int64) for split in splits}
        self.logits = {split: tensor(f"{split}_logit", np.float32) for split in splits}
        self.class_of_text = tensor("class_of_text", np.int64)
        self.best_known = tensor("best_known", np.bool_)
        self.check = tensor("dev_check", np.float32)
        weights = np.load(folder / "minilm.npz")
        self.weights = {name: torch.tensor(weights[name].astype(np.float32), device=device) for name in weights}


def train(data: Data, s: Settings, rows: Tensor) -> Model:
    """Train on the given training pictures; the result is the moving average of the weights."""
    torch.manual_seed(s.seed)
    model = Model(data.weights, s).to(data.device)
    lora = [p for name, p in model.named_parameters() if name.startswith("text.")]
    rest = [p for name, p in model.named_parameters() if not name.startswith("text.")]
    groups = [{"params": rest, "lr": s.lr}, {"params": lora, "lr": s.text_lr}]
    optimiser = torch.optim.AdamW(groups, weight_decay=s.decay)
    steps = s.epochs * math.ceil(len(rows) / s.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _rate(step, steps))
    average = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(s.ema))
    model.train()
    for _ in range(s.epochs):
        for chosen in rows[torch.randperm(len(rows), device=data.device)].split(s.batch):
            loss = _loss_of_batch(model, data, s, chosen)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            average.update_parameters(model)
    return average.module.eval()


def _rate(step: int, steps: int) -> float:
    """A short warm-up, then half a cosine."""
    return min(1.0, (step + 1) / max(1, steps // 20)) * 0.5 * (1 + math.cos(math.pi * min(1.0, step / steps)))


def _loss_of_batch(model: Model, data: Data, s: Settings, chosen: Tensor) -> Tensor:
    picks = torch.rand(len(chosen), CAPTIONS, device=data.device).argsort(-1)[:, : s.captions]
    ids = data.tokens["train"][(chosen[:, None] * CAPTIONS + picks).reshape(-1)]
    ids = ids[:, : int((ids != 0).sum(1).max())]
    gone = (torch.rand(ids.shape, device=data.device) < s.word_dropout) & (ids != 0)
    gone[:, 0] = False
    ids = ids.masked_fill(gone, MASK)
    owner = torch.arange(len(chosen), device=data.device).repeat_interleave(s.captions)
    with torch.autocast(data.device, torch.bfloat16, enabled=data.device != "cpu"):
        texts, pictures = model.texts(ids), model.pictures(data.pooled["train"][chosen])
        scale = model.scale.exp().clamp(max=100)
        losses = [
            _contrast((text @ picture.T).float() * scale, owner) for text, picture in zip(texts, pictures, strict=True)
        ]
    return torch.stack(losses).sum()


def _contrast(logits: Tensor, owner: Tensor) -> Tensor:
    """Cross-entropy in both directions; every caption of a picture in the batch is a right answer."""
    rows = F.cross_entropy(logits, owner)
    right = owner[None, :] == torch.arange(logits.shape[1], device=logits.device)[:, None]
    columns = -(logits.T.log_softmax(-1) * right).sum(-1) / right.sum(-1).clamp(min=1)
    return (rows + columns.mean()) / 2


@torch.no_grad()
def encode_all(encode: Callable[[Tensor], Tensor], ids: Tensor) -> Tensor:
    return torch.cat([encode(part) for part in ids.split(2000)], dim=-2)


def recalls(similarity: Tensor) -> dict[str, float]:
    """Text → picture: captions are rows, five to a picture."""
    owner = torch.arange(similarity.shape[1], device=similarity.device).repeat_interleave(CAPTIONS)
    rank = (similarity > similarity.gather(1, owner[:, None])).sum(1)
    return {f"R@{k}": round(float((rank < k).float().mean()), 4) for k in (1, 5, 10)}


class Evaluation:
    """A model's similarities on some pictures of a split, from which any joining can be scored."""

    @torch.no_grad()
    def __init__(self, model: Model, data: Data, split: str, rows: Tensor) -> None:
        captions = (rows[:, None] * CAPTIONS + torch.arange(CAPTIONS, device=data.device)).reshape(-1)
        ids = data.tokens[split][captions]
        pictures = model.pictures(data.pooled[split][rows])
        self.head = torch.einsum("mtd,mpd->tp", encode_all(model.texts, ids), pictures) / len(pictures)
        self.words = F.normalize(encode_all(model.text, ids), dim=-1)
        self.names = F.normalize(encode_all(model.text, data.tokens["class"]), dim=-1)
        everything = torch.ones_like(data.best_known)
        called, known = (self._summed(data, which) for which in (everything, data.best_known))
        self.class_vectors = F.normalize(called + known, dim=-1)
        self.classes, self.logits = data.classes[split][rows], data.logits[split][rows]
        # Naming: the first name of each class against the pictures, of which the classifier is sure or not.
        _, first = np.unique(data.class_of_text.cpu().numpy(), return_index=True)
        self.first = torch.tensor(first, device=data.device)
        named = encode_all(model.texts, data.tokens["class"][self.first])
        self.naming_head = torch.einsum("mtd,mpd->tp", named, pictures) / len(pictures)

    def _summed(self, data: Data, which: Tensor) -> Tensor:
        """The mean direction of some of the texts of each class."""
        sums = torch.zeros(CLASSES, WIDTH, device=data.device)
        return F.normalize(sums.index_add_(0, data.class_of_text[which], self.names[which]), dim=-1)

    def named(self, temperature: float) -> Tensor:
        weight = (self.logits / temperature).softmax(-1)
        return F.normalize((weight[..., None] * self.class_vectors[self.classes]).sum(1), dim=-1)

    def recalls(self, joining: Joining | None) -> dict[str, float]:
        if joining is None:
            return recalls(self.head)
        weight = joining.weight((self.words @ self.names.T).max(-1).values)[:, None]
        return recalls((1 - weight) * self.head + weight * (self.words @ self.named(joining.temperature).T))

    def naming(self, joining: Joining) -> float:
        """How often the joint vector names what the classifier says, where it is over 0.5 sure."""
        by_name = self.names[self.first] @ self.named(joining.temperature).T
        score = (1 - joining.name) * self.naming_head + joining.name * by_name
        top = self.classes.gather(1, self.logits.argmax(-1, keepdim=True))[:, 0]
        sure = self.logits.softmax(-1).max(-1).values > 0.5
        return round(float((score.argmax(0) == top)[sure].float().mean()), 4)


def quantise(value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eight bits a weight, with one scale a row."""
    scale = np.abs(value).max(axis=1, keepdims=True) / 127 + 1e-12
    return np.rint(value / scale).astype(np.int8), scale.astype(np.float32)


@torch.no_grad()
def pack(model: Model) -> dict[str, np.ndarray]:
    """The trained weights as they are shipped; the model itself is rounded the same way, so that it can be scored."""
    packed: dict[str, np.ndarray] = {}
    for name, value in model.named_parameters():
        array = value.detach().float().cpu().numpy()
        if array.ndim == 2:
            packed[name], packed[f"{name}.scale"] = quantise(array)
            rounded = packed[name] * packed[f"{name}.scale"]
            value.copy_(torch.tensor(rounded, device=value.device))
        else:
            packed[name] = array.astype(np.float32)
    return packed


def choose(data: Data, settings: Settings) -> None:
    """Train without the held-out pictures, and print how settings and joinings do on them."""
    everything = torch.arange(len(data.pooled["train"]), device=data.device)
    model = train(data, settings, everything[:-HELD_OUT])
    found = Evaluation(model, data, "train", everything[-HELD_OUT:])
    print("head alone", found.recalls(None))
    for temperature, sentence, name, (near, same) in product(
        (0.3, 0.4, 0.5, 1.0), (0.1, 0.2), (0.3, 0.85, 0.92), ((0.6, 0.9), (0.7, 0.95))
    ):
        joining = Joining(temperature, sentence, name, near, same)
        print(json.dumps(asdict(joining)), found.recalls(joining), "naming", found.naming(joining), flush=True)


def make(data: Data, settings: Settings, out: Path | None) -> None:
    """Train on all of the training split, report on the development split, and write the weights."""
    model = train(data, settings, torch.arange(len(data.pooled["train"]), device=data.device))
    packed = pack(model)
    found = Evaluation(model, data, "dev", torch.arange(len(data.pooled["dev"]), device=data.device))
    report: dict[str, Any] = {"settings": asdict(settings), "head": found.recalls(None)}
    report |= {"joined": found.recalls(Joining()), "naming": found.naming(Joining())}
    print(json.dumps(report, indent=1), flush=True)
    if out is not None:
        np.savez_compressed(out, mean=data.mean.cpu().numpy(), sd=data.sd.cpu().numpy(), **packed)
        print(f"{out}: {out.stat().st_size / 1e6:.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--hold-out", action="store_true")
    parser.add_argument("--set", default="{}", help="settings as JSON")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_float32_matmul_precision("high")
    data = Data(options.data, device)
    settings = Settings(**json.loads(options.set))
    with torch.no_grad():
        again = F.normalize(
            MiniLM(data.weights, 0, 0.0).to(device).eval()(data.tokens["dev"][: len(data.check)]), dim=-1
        )
    print(f"agreement with the reference sentence vectors: {float((again * data.check).sum(-1).min()):.5f}")
    if options.hold_out:
        choose(data, settings)
    else:
        make(data, settings, options.out)


if __name__ == "__main__":
    main()
