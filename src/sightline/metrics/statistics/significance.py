"""Many differences at once: Holm's correction of their p values, and tie groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import ascii_letters

import numpy as np


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
