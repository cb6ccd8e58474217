"""Systems under test, by kind: what `run --system SPEC` opens."""

from sightline.run.systems.base import Kind, Options, Outcome, Setting, System, attempt_number
from sightline.run.systems.registry import GROUP, find_kind, kind_names

__all__ = ["GROUP", "Kind", "Options", "Outcome", "Setting", "System", "attempt_number", "find_kind", "kind_names"]
