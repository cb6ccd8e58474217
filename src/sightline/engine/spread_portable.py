"""Can a stage be built in another process? Told before anything is begun."""

from __future__ import annotations

import pickle
import sys
from typing import Any

from sightline.engine.spreading import StageSpec
from sightline.errors import UserError


def check_portable(spec: StageSpec[Any, Any]) -> None:
    """Raise what stands in the way: a factory that can't be imported, an argument that can't be pickled."""
    factory = spec.factory
    name = getattr(factory, "__qualname__", repr(factory))
    if _imported(getattr(factory, "__module__", None), name) is not factory:
        raise UserError(
            f"the stage {spec.name} can't go to another process: its factory {name} is not a function of a module.",
            "move it to the top level of a module, and give what it needs as arguments",
        )
    for key, value in spec.arguments.items():
        try:
            pickle.dumps(value)
        except Exception as error:  # Whatever an object's own pickling may raise.
            raise UserError(
                f"the stage {spec.name} can't go to another process: its {key} can't be pickled ({error}).",
                "give plain values (names, paths, settings), and open files and connections in the factory",
            ) from error


def _imported(module: str | None, name: str) -> object:
    found: object = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found
