"""Glimpse's eye: a picture becomes 26 vectors, one for each of its columns and for each of the things in it.

Its trunk is the network with which the package's own reader finds things (training/world): with that one's weights it
sees from the start. A picture is cut into parts, and of each the spot where the trunk is surest of a thing is taken;
the surest of these spots are the things. Of the rest a coarser map tells, by columns, in which a few transformer layers
let each part see the others. What a frozen trunk finds in a picture is always the same, so it may be kept: a look.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDE, HIGH = 320, 240
"""Pixels of a picture; others are scaled to that."""
COLUMNS, ROWS = 10, 5
PARTS = COLUMNS * ROWS
"""Each of 32 x 48 pixels, column by column: what follows in them is about what one reads from left to right."""
THINGS = 16
TOKENS = COLUMNS + THINGS
"""Vectors that a picture becomes."""
KINDS, HUES = 45, 11
TAGS = KINDS + HUES
"""What the trunk can take a thing for: a kind and a colour."""
_LOW = 16
"""Rows of grey below a picture, so that its height is a multiple of 32."""
_EVEN = {"cuda": 16}
"""Pictures are looked at in multiples of this: each number of them that is new seems to cost 0.2 s of planning."""
_RATES = 6
PLACE = 4 * 2 * _RATES
"""Numbers by which waves tell of a box."""
_UNIT = (PLACE / 2) ** -0.5
_SURE = 2.0
"""How much more a surer spot counts than the others of its part."""


def _conv(inner: int, outer: int, kernel: int, stride: int = 1, act: bool = True) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inner, outer, kernel, stride, kernel // 2), *([nn.ReLU()] if act else []))


class VisionBlock(nn.Module):
    """Two convolutions, added to what came in."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(_conv(width, width, 3), _conv(width, width, 3, act=False))

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(x + self.layers(x))


class Trunk(nn.Module):
    """Pictures (n, 3, 256, 320) → what it finds in each of their parts (n, 50, numbers).

    Its layers are named as those of the reader in training/world, of which normalisation is folded into convolutions.
    """

    def __init__(self, widths: Sequence[int]) -> None:
        super().__init__()
        first, w4, w8, w16, w32, inner, out8, out4 = widths
        self.stem = _conv(3, first, 3, 2)
        self.s4 = nn.Sequential(_conv(first, w4, 3, 2), VisionBlock(w4))
        self.s8 = nn.Sequential(_conv(w4, w8, 3, 2), VisionBlock(w8), VisionBlock(w8))
        self.s16 = nn.Sequential(_conv(w8, w16, 3, 2), *(VisionBlock(w16) for _ in range(3)))
        self.s32 = nn.Sequential(_conv(w16, w32, 3, 2), VisionBlock(w32), VisionBlock(w32))
        self.lateral32, self.lateral16 = _conv(w32, inner, 1), _conv(w16, inner, 1)
        self.lateral8, self.lateral4 = _conv(w8, out8, 1), _conv(w4, out8, 1)
        self.merge16, self.merge8 = _conv(inner, out8, 3), _conv(out8, out8, 3)
        self.merge4 = _conv(out8, out4, 3)
        self.heat_head = nn.Conv2d(out4, KINDS, 1)
        self.box_head = nn.Conv2d(out4, 4, 1)
        self.hue_head = nn.Conv2d(out4, HUES, 1)

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1:] != (3, HIGH + _LOW, WIDE):  # What is compiled takes these for given, too.
            raise ValueError(f"pictures of {tuple(x.shape[1:])} numbers")
        coarse, fine, heat, sides = self.maps(x)
        seen, sure, boxes = spots_of(fine, heat, sides)
        rest = _parts(coarse[:, :, : HIGH // 8]).flatten(2)
        return torch.cat([rest.float(), seen, sure, boxes, self.tags(seen, sure)], -1)

    def maps(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Maps at an eighth and at a quarter of a picture's size, where which kind of thing is, and how large."""
        f4 = self.s4(self.stem(x))
        f8 = self.s8(f4)
        f16 = self.s16(f8)
        p16 = self.merge16(self.lateral16(f16) + _twice(self.lateral32(self.s32(f16))))
        p8 = self.merge8(self.lateral8(f8) + _twice(p16))
        p4 = self.merge4(self.lateral4(f4) + _twice(p8))
        return p8, p4, self.heat_head(p4), functional.softplus(self.box_head(p4))

    def tags(self, seen: Tensor, sure: Tensor) -> Tensor:
        """Of what is at some spots of the map p4: how likely each kind and each colour is, less where it is unsure."""
        kinds, hues = (
            functional.linear(seen, head.weight.flatten(1), head.bias).float().softmax(-1)
            for head in (self.heat_head, self.hue_head)
        )
        return torch.cat([kinds, hues], -1) * (sure + 1).sigmoid()


def _twice(x: Tensor) -> Tensor:
    return functional.interpolate(x, scale_factor=2.0)


class VisionLayer(nn.Module):
    """A transformer layer in which each part of a picture sees all others."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 3 * width), nn.Linear(3 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        n, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(n, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        x = x + self.out(functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, length, width))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


@dataclass(frozen=True, slots=True)
class VisionOutput:
    """What the eye sees in pictures: of columns vectors; of things their features, tags, and places as waves."""

    columns: Tensor
    features: Tensor
    tags: Tensor
    places: Tensor


class Eye(nn.Module):
    """Pictures → looks → what is seen. A frozen trunk is not trained."""

    def __init__(self, widths: Sequence[int], width: int, layers: int, heads: int, *, frozen: bool) -> None:
        super().__init__()
        *_, out8, out4 = widths
        self.trunk = Trunk(widths).requires_grad_(not frozen)
        self.cuts = (out8 * (HIGH // 8 // ROWS) * (WIDE // 8 // COLUMNS), out4, 1, 4, TAGS)
        self.merge = nn.Linear(self.cuts[0], width)
        self.place = nn.Embedding(PARTS, width)
        self.layers = nn.ModuleList(VisionLayer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.column = nn.Linear(ROWS * width, width)
        self.frozen = frozen

    def look(self, pixels: Tensor) -> Tensor:
        """Of pictures (n, 3, 240, 320; bytes) what the trunk finds in each part: (n, 50, numbers)."""
        more = -len(pixels) % _EVEN.get(pixels.device.type, 1)
        x = functional.pad(pixels, (0, 0, 0, _LOW, 0, 0, 0, more), value=128).to(self.norm.weight.dtype) / 63.75 - 2.0
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            found: Tensor = self.trunk(x.contiguous(memory_format=torch.channels_last))
        return found[: len(pixels)]

    def forward(self, looks: Tensor) -> VisionOutput:
        rest, spots = looks.split((self.cuts[0], sum(self.cuts[1:])), -1)
        x = self.merge(rest.to(self.merge.weight.dtype)) + self.place.weight
        for layer in self.layers:
            x = layer(x)
        columns = self.column(self.norm(x).unflatten(1, (COLUMNS, ROWS)).flatten(2))
        features, sure, boxes, tags = _surest(spots.float(), self.cuts[1]).split(self.cuts[1:], -1)
        # All of length 1 at most, as words are: larger ones would drown the rest, and learn in leaps.
        there = (sure + 1).sigmoid()
        return VisionOutput(columns, functional.normalize(features, dim=-1) * there, tags, waves(boxes) * there * _UNIT)


def _surest(spots: Tensor, sure: int) -> Tensor:
    """The spots at which the trunk is surest of a thing (by that number of theirs), in the order of their parts."""
    chosen = spots[..., sure].topk(THINGS, 1).indices.sort(1).values
    return spots.gather(1, chosen[..., None].expand(-1, -1, spots.shape[-1]))


def spots_of(fine: Tensor, heat: Tensor, sides: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What is where each part is surest of a thing: the map there, how sure it is, and the thing's box (0 to 1)."""
    across = (torch.arange(WIDE // 4, device=fine.device) + 0.5) * 4
    down = (torch.arange(HIGH // 4, device=fine.device)[:, None] + 0.5) * 4
    fine, heat, sides = (one[:, :, : HIGH // 4].float() for one in (fine, heat, sides * 32))
    left, top, right, bottom = sides.unbind(1)
    boxes = [(across - left) / WIDE, (down - top) / HIGH, (across + right) / WIDE, (down + bottom) / HIGH]
    sure = _parts(heat.amax(1, keepdim=True))
    share = (_SURE * sure).softmax(-1)
    seen = (_parts(torch.cat([fine, torch.stack(boxes, 1)], 1)) * share).sum(-1)
    return seen[..., :-4], sure.amax(-1), seen[..., -4:]


def _parts(x: Tensor) -> Tensor:
    """A map (n, c, h, w) cut into the parts of a picture: (n, 50, c, pixels)."""
    n, c, high, wide = x.shape
    cut = x.reshape(n, c, ROWS, high // ROWS, COLUMNS, wide // COLUMNS)
    return cut.permute(0, 4, 2, 1, 3, 5).reshape(n, PARTS, c, -1)


def waves(numbers: Tensor) -> Tensor:
    """Numbers from 0 to 1 as sines and cosines, slow and fast: small differences are far apart in some of them."""
    rates = torch.pi * 2.0 ** torch.arange(_RATES, device=numbers.device)
    angles = (numbers[..., None] * rates).flatten(-2)
    return torch.cat([angles.sin(), angles.cos()], -1)
