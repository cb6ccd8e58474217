"""Many differences at once: Holm's correction of their p values, tie groups, and all pairs of several runs.

Step-down max-T tests all pairs so that the chance of any false difference stays below 1 - level. Were there no
difference, what two runs differ by in each unit (a task, or a cluster of tasks) could as well have the other sign. One
matrix of random signs serves all pairs, because the flipped total of a difference is the difference of two flipped
totals. A difference is worth T = |Σ d_g| / √Σ d_g², whose lower part no flip changes.

p of a pair is the share of draws in which the largest T, of this pair and of all with a smaller one, is at least as
large as the T seen (Westfall and Young, 1993). Runs that are alike move together in every draw, so many of them cost
less than as many independent pairs; p has no floor but 1 / (draws + 1), however many pairs there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import ascii_letters
from typing import NamedTuple

import numpy as np

from sightline.metrics.statistics.intervals import Codes, Floats, halves, units_of
from sightline.metrics.statistics.splits import FLIPS, sign_patterns


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


# A difference no larger than this is rounding.
_TIE = 1e-12
# T that differ by less, relative to themselves, are the same one in single precision.
_SLACK = 1e-4
# With very many pairs fewer signs are drawn, so that there are no more flipped T than this; but never too few for p.
_MOST_STATISTICS = 1_000_000_000
_LEAST_DRAWS = 2_000
# Flipped T that are held at once.
_BLOCK = 1 << 17


class AllPairs(NamedTuple):
    """Every pair of runs by their places: the total of second minus first, and its adjusted p."""

    first: Codes
    second: Codes
    totals: Floats
    p: Floats


def max_t(
    values: Floats, codes: Codes | None = None, weights: Floats | None = None, *, seed: int = 0, flips: int = FLIPS
) -> AllPairs:
    """Test all pairs of runs, the columns of `values`; a task (row) is left out of pairs in which one has NaN.

    All patterns of signs are taken where they are no more than `flips`.
    """
    first, second = np.triu_indices(values.shape[1], 1)
    table, mask = _units(values, codes, weights)
    totals, scale = np.empty(len(first)), np.zeros(len(first))
    for part in _blocks(np.arange(len(first)), table.shape[2]):
        moved = _differences(table, mask, first[part], second[part])
        totals[part], norms = moved.sum(axis=1), np.sqrt((moved**2).sum(axis=1))
        scale[part] = np.divide(1, norms, out=scale[part], where=norms > _TIE)
    draws = min(flips, max(_LEAST_DRAWS, _MOST_STATISTICS // max(1, len(first))))
    flipped, is_all = _flipped(table, draws, seed)
    seen, largest = np.abs(totals) * scale, np.zeros(flipped.shape[2], np.float32)
    order = np.argsort(seen, kind="stable")
    reached = np.empty(len(first))
    for part in _blocks(order, flipped.shape[2]):
        drawn = _differences(flipped, mask, first[part], second[part])
        np.abs(drawn, out=drawn)
        drawn *= scale[part, None].astype(np.float32)
        for row in drawn:  # Several times as fast as np.maximum.accumulate.
            np.maximum(row, largest, out=row)
            largest = row
        reached[part] = np.count_nonzero(drawn >= (seen[part, None] * (1 - _SLACK)).astype(np.float32), axis=1)
    p = reached / len(largest) if is_all else (reached + 1) / (len(largest) + 1)
    p[order[::-1]] = np.maximum.accumulate(p[order[::-1]])
    return AllPairs(first, second, totals, p)


def _units(values: Floats, codes: Codes | None, weights: Floats | None) -> tuple[Floats, Codes]:
    """Sums by mask (tasks that some run has values for), run and unit; and the mask of each run."""
    defined = np.isfinite(values)
    known = np.where(defined, values, 0.0)
    # What all runs have in common cancels, and would cost digits.
    known -= known.sum(axis=1, keepdims=True) / np.maximum(1, defined.sum(axis=1, keepdims=True))
    masks, of = np.unique(defined, axis=1, return_inverse=True)
    kept = (units_of(np.where(defined & mask[:, None], known, 0.0), codes, weights).sums.T for mask in masks.T)
    return np.stack(list(kept)), of.ravel()


def _differences(table: Floats, mask: Codes, first: Codes, second: Codes) -> Floats:
    """Second minus first over what both have values for, a row for each pair."""
    moved: Floats = table[mask[first], second] - table[mask[second], first]
    return moved


def _flipped(table: Floats, draws: int, seed: int) -> tuple[Floats, bool]:
    """The totals of `table` with the signs of each draw; whether these are all signs that there are."""
    masks, runs, count = table.shape
    units = table.reshape(masks * runs, count).T
    is_all = 1 << max(0, count - 1) <= draws
    half = sign_patterns(count) @ units if is_all else halves(units, None, draws, np.random.default_rng(seed))
    both: Floats = (2 * half - units.sum(axis=0)).astype(np.float32)
    return np.ascontiguousarray(both.T).reshape(masks, runs, -1), is_all


def _blocks(pairs: Codes, width: int) -> list[Codes]:
    return [part for part in np.array_split(pairs, -(-len(pairs) * width // _BLOCK) or 1) if len(part)]
