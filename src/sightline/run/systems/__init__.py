"""Systems under test, by kind: what `run --system SPEC` opens."""

from sightline.run.systems.base import Kind, Options, Outcome, Setting, System, attempt_number
from sightline.run.systems.registry import find_kind, kind_names

__all__ = ["Kind", "Options", "Outcome", "Setting", "System", "attempt_number", "find_kind", "kind_names"]
