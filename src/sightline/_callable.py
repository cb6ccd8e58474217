"""A package that is also the verb of its name: `sightline.score(…)` beside `sightline.score.parse_choice`."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class CallablePackage(ModuleType):
    """A module that, when called, is the function of its last name in `sightline.verbs`."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        verb = getattr(import_module("sightline.verbs"), self.__name__.rpartition(".")[2])
        return verb(*arguments, **options)


def make_callable(package: str) -> None:
    """Let the package of that name be called."""
    sys.modules[package].__class__ = CallablePackage
