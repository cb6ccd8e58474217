"""People's answers about pairs of query and picture: what they come to, and who is asked next.

Each pair is given to one person; one in five, by lot, to a second, so that agreement can be measured. Where two grades
are 2 or more apart, or somebody can't tell, one more person is asked. Nobody is shown an answer before giving one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from statistics import median
from typing import TypeAlias

from sightline.metrics.agreement import AgreementReport, agreement_report

HIGHEST = 3
"""Grades go from 0 (does not fit) to 3 (exactly what was asked for)."""
OVERLAP = 0.2
MOST = 3
"""No pair is given to more people."""
_APART = 2

Votes: TypeAlias = Mapping[str, int | None]
"""What each person said of a pair: a grade, or None for "can't tell" and for what was skipped."""


def gain(votes: Votes) -> float | None:
    """The gain of a pair from 0 to 1: the median grade / 3; ½ where nobody can tell; None where nobody was asked."""
    grades = [grade for grade in votes.values() if grade is not None]
    if grades:
        return median(grades) / HIGHEST
    return 0.5 if votes else None


def people_needed(votes: Votes, pair: str, people: int, seed: int) -> int:
    """How many people should answer about a pair, as far as is known now."""
    if people == 1:
        return 1
    grades = [grade for grade in votes.values() if grade is not None]
    wanted = 2 if _lot(f"{seed} overlap {pair}") < OVERLAP else 1
    if len(grades) > 1 and max(grades) - min(grades) >= _APART:
        wanted = MOST
    return min(people, MOST, wanted + len(votes) - len(grades))


def is_for(person: str, pair: str, active: Collection[str]) -> bool:
    """Whether a pair that nobody answered yet goes to this one of the people who are at work: each pair to one."""
    return max(active, key=lambda one: (_lot(f"{one} {pair}"), one)) == person


def agreement_of(votes: Collection[Votes]) -> AgreementReport | None:
    """Agreement of two people on grades, κ and α with intervals; None where no pair has two grades.

    Of each pair the first two grades in the order of names: the third was asked because these two differ.
    """
    both = [
        found[:2] for one in votes if len(found := [one[name] for name in sorted(one) if one[name] is not None]) > 1
    ]
    return agreement_report([first for first, _ in both], [second for _, second in both]) if both else None


def _lot(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) / 2**64
