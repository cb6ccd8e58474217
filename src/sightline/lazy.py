"""Names of a module that are imported when they are first used."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # As that of `typing`, whose import takes longer than all the rest of `import sightline`.
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def later(module: str, names: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a module: each name is taken from another module when it is asked for.

    `names` says from which, by its full name, or with a dot before it if it lies in the package `module`.
    """

    def get(name: str) -> Any:
        from importlib import import_module  # Here, since `import sightline` alone does without it.

        if name in names:
            return getattr(import_module(names[name], module), name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[module]), *names})

    return get, list_names
