"""A photo history → questions that need its context, with the graph that they come from. Docs: docs/mine.md."""

from sightline.mining.graph import MemoryGraph, read_graph
from sightline.mining.pipeline import STAGES, Mining, MiningResult
from sightline.mining.project import DISBENCH, GENTLE, MiningSettings, OwnerRules

__all__ = [
    "DISBENCH",
    "GENTLE",
    "STAGES",
    "MemoryGraph",
    "Mining",
    "MiningResult",
    "MiningSettings",
    "OwnerRules",
    "read_graph",
]
