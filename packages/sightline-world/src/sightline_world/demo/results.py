"""What the demo found on a life of the built-in world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sightline.corpus.scan import ScanSummary
from sightline.metrics.comparison import Comparison
from sightline.types import Benchmark
from sightline_world.demo.audit import TruthAudit
from sightline_world.demo.systems import SYSTEMS, Field, standing
from sightline_world.demo.truth import Exact
from sightline_world.truth import Life

RANKED, SET = "ndcg@10", "f1"
"""The metrics of the short table, one for each benchmark."""


@dataclass(frozen=True, slots=True)
class WorldFound:
    """A life, the benchmark that was made of it and how right it is, and four systems on that and on exact sets.

    `exact` compares the runs of `found` once more, by the exact truth in place of the made labels.
    """

    life: Life
    scanned: ScanSummary
    benchmark: Benchmark
    truth: Mapping[str, Exact]
    audit: TruthAudit
    found: Field
    exact: Comparison
    selected: Field

    def to_dict(self) -> dict[str, Any]:
        """Every figure, ready for JSON."""
        return {
            "owner": self.life.owner,
            "events": len(self.life.events),
            "queries": len(self.benchmark.tasks),
            "audit": asdict(self.audit),
            "systems": {name: self._system(name) for name in SYSTEMS},
            "comparisons": {
                "search": asdict(self.found.comparison),
                "search by the exact truth": asdict(self.exact),
                "sets": asdict(self.selected.comparison),
            },
        }

    def _system(self, name: str) -> dict[str, Any]:
        spent = self.found.spending(name)
        return {
            RANKED: asdict(self.found.standing(name, RANKED)),
            f"{RANKED} by the exact truth": asdict(standing(self.exact, name, RANKED)),
            SET: asdict(self.selected.standing(name, SET)),
            "usd": spent.usd,
            "p50": spent.p50,
        }
