"""What the judging came to, as `judging.json` keeps it for the audit, the card and the reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sightline.make.judge.deciding import SetAside
from sightline.make.judge.missed import Missed
from sightline.make.judge.panel import Agreement, Label
from sightline.make.judge.pool import Pool


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything that is counted over one judging."""

    scale: str
    agreement: Agreement
    missed: Missed
    queries: int
    set_aside: Sequence[SetAside] = ()
    failures: Mapping[str, int] = field(default_factory=dict)
    grades: Mapping[int, int] = field(default_factory=dict)
    tiers: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    sources: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    weak: bool = False
    usd: float | None = 0.0

    def to_json(self) -> dict[str, Any]:
        """For `judging.json`."""
        panel = self.agreement
        return {
            "judges": list(panel.judges),
            "weak": self.weak,
            "scale": self.scale,
            "queries": self.queries,
            "set_aside": dict(Counter(item.reason for item in self.set_aside)),
            "grades": {str(grade): count for grade, count in sorted(self.grades.items())},
            "failures": dict(self.failures),
            "agreement": {
                "items": panel.items,
                "alpha": asdict(panel.alpha),
                "pairs": [
                    {"judges": list(both), "agreement": same, "kappa": kappa}
                    for both, (same, kappa) in panel.pairs.items()
                ],
                "relevant_share": dict(panel.relevant),
            },
            "relevant_by_tier": _shares(self.tiers, "judged", "relevant"),
            "relevant_by_source": _shares(self.sources, "relevant", "only_here"),
            "missed": asdict(self.missed),
            "usd": self.usd,
        }


def _shares(counts: Mapping[str, tuple[int, int]], first: str, second: str) -> dict[str, dict[str, int]]:
    return {name: {first: one, second: other} for name, (one, other) in counts.items()}


def count_tiers(pools: Iterable[Pool], labels: Mapping[str, Mapping[str, Label]]) -> dict[str, tuple[int, int]]:
    """By tier: how many pictures were judged, and how many of them are relevant."""
    judged: Counter[str] = Counter()
    relevant: Counter[str] = Counter()
    for pool in pools:
        known = labels[pool.query.id]
        for candidate in pool.query.candidates:
            judged[candidate.tier] += 1
            relevant[candidate.tier] += known[candidate.picture].is_relevant
    return {tier: (count, relevant[tier]) for tier, count in judged.items()}


def count_sources(pools: Iterable[Pool], labels: Mapping[str, Mapping[str, Label]]) -> dict[str, tuple[int, int]]:
    """By what found them: how many relevant pictures, and how many that nothing else found."""
    found: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for pool in pools:
        known, seeds = labels[pool.query.id], set(pool.query.seeds)
        for picture, by in pool.found_by.items():
            if picture not in seeds and known[picture].is_relevant:
                found.update(by)
                alone.update(by if len(by) == 1 else ())
    return {name: (count, alone[name]) for name, count in found.items()}
