"""The networks of the built-in models: one looks at pictures, one reads signs, two put scenes and words into one space.

Needs torch alone. Everything here can be exported to ONNX: convolutions, layer norms, plain attention.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

KINDS, COLOURS, SIZES, HAIR, HEADGEAR, PLACES, LIGHTS = 45, 11, 3, 5, 4, 14, 6
"""Kinds are the world's 43, then person, then sign."""
ATTRIBUTES = (
    ("colour", COLOURS),
    ("size", SIZES),
    ("hair", HAIR),
    ("headgear", HEADGEAR),
    ("headgear_colour", COLOURS),
)
STRIDE = 4
LETTERS = " ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Index 0 of the sign reader's output is CTC's blank, so a letter's class is its place here plus 1."""


def _conv(inner: int, outer: int, kernel: int, stride: int = 1, act: bool = True) -> nn.Sequential:
    layers: list[nn.Module] = [
        nn.Conv2d(inner, outer, kernel, stride, kernel // 2, bias=False),
        nn.BatchNorm2d(outer),
    ]
    return nn.Sequential(*layers, *([nn.ReLU(inplace=True)] if act else []))


class Block(nn.Module):
    """Two convolutions, added to what came in."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(_conv(width, width, 3), _conv(width, width, 3, act=False))

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x + self.layers(x))


class Reader(nn.Module):
    """A picture (n, 3, h, w; 0 to 1; sides multiples of 32) → maps at a quarter of its size, and its place and light.

    `heat` has a channel for each kind, high at the middle of a thing; `boxes` the distances to its four sides, in
    pixels / 32; `attributes` the logits of colour, size, hair, headgear and headgear's colour, side by side.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stem = _conv(3, 24, 3, 2)
        self.s4 = nn.Sequential(_conv(24, 40, 3, 2), Block(40))
        self.s8 = nn.Sequential(_conv(40, 64, 3, 2), Block(64), Block(64))
        self.s16 = nn.Sequential(_conv(64, 128, 3, 2), *(Block(128) for _ in range(3)))
        self.s32 = nn.Sequential(_conv(128, 224, 3, 2), Block(224), Block(224))
        self.lateral32, self.lateral16 = _conv(224, 96, 1), _conv(128, 96, 1)
        self.lateral8, self.lateral4 = _conv(64, 64, 1), _conv(40, 64, 1)
        self.merge16, self.merge8, self.merge4 = _conv(96, 64, 3), _conv(64, 64, 3), _conv(64, 80, 3)
        self.heat_head = nn.Conv2d(80, KINDS, 1)
        self.rest_head = nn.Conv2d(80, 4 + sum(n for _, n in ATTRIBUTES), 1)
        self.whole = nn.Linear(224 + 128, PLACES + LIGHTS)
        nn.init.constant_(self.heat_head.bias, -4.0)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        f4 = self.s4(self.stem((x - 0.5) * 4.0))
        f8 = self.s8(f4)
        f16 = self.s16(f8)
        f32 = self.s32(f16)
        p16 = self.merge16(self.lateral16(f16) + F.interpolate(self.lateral32(f32), scale_factor=2.0))
        p8 = self.merge8(self.lateral8(f8) + F.interpolate(p16, scale_factor=2.0))
        p4 = self.merge4(self.lateral4(f4) + F.interpolate(p8, scale_factor=2.0))
        rest = self.rest_head(p4)
        whole = self.whole(torch.cat([f32.mean((2, 3)), f16.mean((2, 3))], 1))
        return self.heat_head(p4), F.softplus(rest[:, :4]), rest[:, 4:], whole


class SignReader(nn.Module):
    """A sign cut out of a picture (n, 1, 96, 160; 0 to 1) → letters' logits, 40 steps along each of two lines."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            _conv(1, 32, 3, 2),
            _conv(32, 64, 3, 2),
            Block(64),
            Block(64),
            nn.Conv2d(64, 112, 3, (2, 1), 1, bias=False),
            nn.BatchNorm2d(112),
            nn.ReLU(inplace=True),
            *(Block(112) for _ in range(3)),
        )
        # Where a line lies differs from sign to sign, so each of the two looks at the whole height.
        self.lines = nn.Sequential(nn.Conv2d(112, 320, (12, 1), bias=False), nn.BatchNorm2d(320), nn.ReLU(inplace=True))
        self.along = nn.Sequential(nn.Conv1d(160, 160, 5, padding=2), nn.ReLU(), nn.Conv1d(160, 160, 5, padding=2))
        self.out = nn.Conv1d(160, len(LETTERS) + 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        first, second = self.lines(self.layers((x - 0.5) * 4.0)).squeeze(2).chunk(2, 1)
        steps = torch.cat([line + self.along(line) for line in (first, second)], 2)
        return self.out(steps).transpose(1, 2)


class Attention(nn.Module):
    """A transformer layer (norm first), written out so that it exports plainly; `keep` is 1 for what is there."""

    def __init__(self, width: int, heads: int, drop: float) -> None:
        super().__init__()
        self.heads, self.drop = heads, nn.Dropout(drop)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 3 * width), nn.Linear(3 * width, width)

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        n, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(n, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) * (width // self.heads) ** -0.5 + (keep[:, None, None, :] - 1.0) * 1e4
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(n, length, width)
        x = x + self.drop(self.out(mixed))
        return x + self.drop(self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh")))


@dataclass(frozen=True)
class Sizes:
    width: int = 192
    heads: int = 6
    scene_layers: int = 3
    text_layers: int = 4
    dim: int = 512
    drop: float = 0.1
    words: int = 4096
    grams: int = 2048
    longest: int = 32


DETECTION = KINDS + sum(n for _, n in ATTRIBUTES) + 4 + 1
"""Numbers that describe one thing that was seen: probabilities, its box, and how sure."""


class Words(nn.Module):
    """Words as vectors: one for the whole word, and one for each of its three-letter pieces. Entry 0 is nothing."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.whole = nn.Embedding(sizes.words, sizes.width, padding_idx=0)
        self.pieces = nn.Embedding(sizes.grams, sizes.width, padding_idx=0)
        for table in (self.whole, self.pieces):
            nn.init.normal_(table.weight, std=0.1)
            table.weight.data[0] = 0.0

    def forward(self, words: Tensor, grams: Tensor) -> Tensor:
        return self.whole(words) + self.pieces(grams).sum(-2)


class SceneEncoder(nn.Module):
    """What was seen in a picture → a unit vector: things (n, t, DETECTION), place and light, words on signs."""

    def __init__(self, sizes: Sizes, words: Words) -> None:
        super().__init__()
        self.words = words
        self.thing = nn.Sequential(nn.Linear(DETECTION, sizes.width), nn.GELU(), nn.Linear(sizes.width, sizes.width))
        self.whole = nn.Linear(PLACES + LIGHTS, sizes.width)
        self.sign = nn.Linear(sizes.width, sizes.width)
        self.layers = nn.ModuleList(Attention(sizes.width, sizes.heads, sizes.drop) for _ in range(sizes.scene_layers))
        self.norm, self.out = nn.LayerNorm(sizes.width), nn.Linear(sizes.width, sizes.dim)
        self.each = nn.Linear(sizes.width, sizes.dim, bias=False)

    def forward(self, things: Tensor, whole: Tensor, words: Tensor, grams: Tensor) -> Tensor:
        first = self.whole(whole)[:, None]
        x = torch.cat([first, self.thing(things), self.sign(self.words(words, grams))], 1)
        seen = (things[..., -1] > 0).to(x.dtype)
        read = (words > 0).to(x.dtype)
        keep = torch.cat([torch.ones_like(seen[:, :1]), seen, read], 1)
        for layer in self.layers:
            x = layer(x, keep)
        x = self.norm(x)
        # Each thing adds its own share, so that what is asked for is found beside whatever else there is.
        return F.normalize(self.out(x[:, 0]) + (self.each(x) * keep[..., None]).sum(1), dim=-1)


class TextEncoder(nn.Module):
    """Words (n, length) and their pieces (n, length, pieces) → a unit vector."""

    def __init__(self, sizes: Sizes, words: Words) -> None:
        super().__init__()
        self.words = words
        self.place = nn.Parameter(torch.randn(sizes.longest, sizes.width) * 0.02)
        self.layers = nn.ModuleList(Attention(sizes.width, sizes.heads, sizes.drop) for _ in range(sizes.text_layers))
        self.norm, self.out = nn.LayerNorm(sizes.width), nn.Linear(sizes.width, sizes.dim)

    def forward(self, words: Tensor, grams: Tensor) -> Tensor:
        keep = (words > 0).to(self.place.dtype)
        x = self.words(words, grams) + self.place[: words.shape[1]]
        for layer in self.layers:
            x = layer(x, keep)
        x = self.norm(x)
        pooled = (x * keep[..., None]).sum(1) / keep.sum(1, keepdim=True).clamp_min(1.0)
        return F.normalize(self.out(pooled), dim=-1)


class Relations(nn.Module):
    """Two things that were seen (n, DETECTION each) → logits of: left of, behind, on, holding."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2 * DETECTION + 8, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 4)
        )

    def forward(self, subject: Tensor, thing: Tensor) -> Tensor:
        a, b = subject[..., -5:-1], thing[..., -5:-1]
        overlap = torch.cat([torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])], -1)
        return self.layers(torch.cat([subject, thing, (a - b) * 4, overlap], -1))
