"""Significance of a difference between systems on the same tasks: randomisation test, Holm's correction, tie groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import ascii_letters
from typing import NamedTuple

import numpy as np

from sightline.metrics.statistics.distributions import half_binomial_cdf
from sightline.metrics.statistics.intervals import Floats

FLIPS = 10_000
# Up to 2^16 sign patterns are enumerated.
_ENUMERATED = 16
_BLOCK = 1 << 19
# Sums closer than this, relative to the largest possible, are ties in another order of summation.
_ROUNDING = 1e-10


class Significance(NamedTuple):
    """A two-sided p, and whether it was enumerated (`exact`) or sampled (`monte-carlo`)."""

    p: float
    method: str


def sign_flip_test(sums: Floats, *, seed: int = 0, flips: int = FLIPS) -> Significance:
    """Paired randomisation test: under no difference each unit's sum of differences could as well have the other sign.

    `sums` holds one difference per task, or one sum per cluster, which is flipped as a whole. Exact when up to 16
    units differ, or when all that differ do so by the same amount; else (b+1)/(m+1) over m random flips.
    """
    moved = sums[np.abs(sums) > _ROUNDING * np.abs(sums).max(initial=0.0)]
    if not len(moved):
        return Significance(1.0, "exact")
    sizes = np.sort(np.abs(moved))
    if sizes[0] == sizes[-1]:
        return Significance(_sign_test(int((moved > 0).sum()), int((moved < 0).sum())), "exact")
    reached = abs(float(moved.sum())) - _ROUNDING * float(sizes.sum())
    if len(sizes) <= _ENUMERATED:
        return Significance(float(np.mean(np.abs(_every_flip(sizes)) >= reached)), "exact")
    beyond = _random_flips_beyond(sizes, reached, seed, flips)
    return Significance((beyond + 1) / (flips + 1), "monte-carlo")


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Two-sided exact p for 0/1 values from the tasks that only one of the two systems got right."""
    return _sign_test(only_first, only_second)


def _sign_test(plus: int, minus: int) -> float:
    return min(1.0, 2 * half_binomial_cdf(min(plus, minus), plus + minus))


def _every_flip(sizes: Floats) -> Floats:
    totals = np.zeros(1)
    for size in sizes:
        totals = np.concatenate([totals - size, totals + size])
    return totals


def _random_flips_beyond(sizes: Floats, reached: float, seed: int, flips: int) -> int:
    """How many of `flips` random sign patterns give a total at least as far from zero as `reached`."""
    rng = np.random.default_rng(seed)
    width = -(-len(sizes) // 8)
    weights = np.zeros(width * 8)
    weights[: len(sizes)] = sizes
    block, beyond = max(1, _BLOCK // (8 * width)), 0
    for start in range(0, flips, block):
        rows = min(block, flips - start)
        packed = np.frombuffer(rng.bytes(rows * width), np.uint8).reshape(rows, width)
        positive = np.unpackbits(packed, axis=1).astype(np.float64) @ weights
        beyond += int(np.count_nonzero(np.abs(2 * positive - weights.sum()) >= reached))
    return beyond


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p: the i-th smallest of m times m - i + 1, made monotone, at most 1."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return [float(value) for value in adjusted]


def tie_letters(ranked: Sequence[str], different: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Letters for each system, "a" for the group of the best; `ranked` is best first.

    Insert and absorb: begin with one group of all, split every group that holds a pair that differs, drop groups
    that lie inside another.
    """
    groups = [frozenset(ranked)] if ranked else []
    for first, second in different:
        groups = _absorb(_split(groups, first, second))
    place = {system: position for position, system in enumerate(ranked)}
    groups.sort(key=lambda group: sorted(place[system] for system in group))
    return {
        system: "".join(_letter(number) for number, group in enumerate(groups) if system in group) for system in ranked
    }


def _split(groups: Iterable[frozenset[str]], first: str, second: str) -> list[frozenset[str]]:
    parted: list[frozenset[str]] = []
    for group in groups:
        parted += [group - {first}, group - {second}] if {first, second} <= group else [group]
    return parted


def _absorb(groups: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    kept: list[frozenset[str]] = []
    for group in sorted(set(groups), key=len, reverse=True):
        if not any(group <= larger for larger in kept):
            kept.append(group)
    return kept


def _letter(number: int) -> str:
    return ascii_letters[number] if number < len(ascii_letters) else f"({number + 1})"
