"""Orders of pictures as options: all four by lot, and only then the one that the pictures will be drawn for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from sightline_world.choose.question import Wanted


def order_options(wanted: Wanted, count: int) -> tuple[list[tuple[int, ...]], int]:
    """Four orders of so many pictures and the right one: the harder, the more they have in common.

    Which of the four is right is drawn after them, so that no likeness among them gives it away.
    """
    rng = wanted.rng
    everything = list(permutations(range(count)))
    base = rng.choice(everything)
    pool = sorted(everything, key=lambda order: (_differing(order, base), rng.random()))
    keep = max(6, round(len(pool) * wanted.between(1.0, 0.25)))
    orders = rng.sample(pool[:keep], 4)
    return orders, rng.randrange(4)


def _differing(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(x != y for x, y in zip(a, b, strict=True))


def said_order(order: Sequence[int]) -> str:
    """ "3, 1, 2", counted from 1."""
    return ", ".join(str(place + 1) for place in order)
