"""Systems under test, by kind: what `run --system SPEC` opens."""

from sightline.runs.systems.base import (
    Kind,
    Options,
    Outcome,
    System,
    SystemSetting,
    attempt_number,
    find_kind,
    kind_names,
)

__all__ = ["Kind", "Options", "Outcome", "System", "SystemSetting", "attempt_number", "find_kind", "kind_names"]
