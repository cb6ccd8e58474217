"""A photo history → questions that need its context, with the graph that they come from. Docs: docs/mine.md."""

from sightline.mine.done import Done
from sightline.mine.graph import MemoryGraph, read_graph
from sightline.mine.pipeline import STAGES, Mining
from sightline.mine.settings import DISBENCH, GENTLE, OwnerRules, Settings

__all__ = [
    "DISBENCH",
    "GENTLE",
    "STAGES",
    "Done",
    "MemoryGraph",
    "Mining",
    "OwnerRules",
    "Settings",
    "read_graph",
]
