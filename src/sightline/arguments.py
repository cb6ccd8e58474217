"""Arguments of the public functions, held against the annotations before any work begins: a wrong type is refused."""

from __future__ import annotations

import builtins
import collections.abc
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, wraps
from inspect import formatannotation, isfunction, signature
from numbers import Integral, Real
from reprlib import repr as short_repr
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import sightline
from sightline.errors import UserError, require_at_least

P = ParamSpec("P")
R = TypeVar("R")

_PLAIN = (NoneType, bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset)
_MODULE = re.compile(r"(?:\w+\.)+(?=\w)|~")
"""Before the name of a class or a type variable."""


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which refuses arguments of a wrong type, and `limit` and `seed` out of range, before it begins."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            given = _signature(function).bind(*args, **kwargs).arguments
        except TypeError:  # The call itself says which parameter is missing, or that there is no such one.
            given = {}
        for name, value in given.items():
            if not _fits(value, hint := _hint(function, name)):
                raise _refusal(function, name, hint, value)
        require_at_least(1, limit=given.get("limit"))
        require_at_least(0, seed=given.get("seed"))
        return function(*args, **kwargs)

    return call


def _refusal(function: Callable[..., object], name: str, hint: Any, value: object) -> UserError:
    called, wanted = function.__qualname__.removesuffix(".__init__"), _MODULE.sub("", formatannotation(hint))
    shown = short_repr(value) if isinstance(value, _PLAIN) else f"{type(value).__name__} object"
    return UserError(
        f"{called}: {name} must be of the type {wanted}, not {shown}.", f"help(sightline.{called}) says what it means."
    )


_signature = cache(signature)


@cache
def _hint(function: Callable[..., object], name: str) -> Any:
    """What a parameter takes; which folder and which word is left to the function, which can say more."""
    one = _signature(function).parameters[name]
    if one.annotation is one.empty:
        return Any
    alone = SimpleNamespace(__annotations__={name: one.annotation})  # What is not given need not be imported.
    hint = get_type_hints(alone, localns=_Names(getattr(function, "__globals__", {})))[name]
    return hint if one.kind is one.KEYWORD_ONLY or "os.PathLike" not in str(hint) else Any


class _Names(dict[str, Any]):
    """With those that are imported for type checkers only, as far as they are public."""

    def __missing__(self, name: str) -> Any:
        if name == "PathLike":
            return str | os.PathLike[str]
        found = (getattr(place, name) for place in (builtins, collections.abc) if hasattr(place, name))
        return next(found, getattr(sightline, name) if name in sightline.__all__ else Any)


def _fits(value: object, hint: Any) -> bool:
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if kind in (collections.abc.Sequence, collections.abc.Iterable):
        listable = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
        return listable and _all_fit(value if isinstance(value, Collection) else (), inner[0])
    if kind is collections.abc.Mapping:
        return isinstance(value, Mapping) and _all_fit(value, inner[0]) and _all_fit(value.values(), inner[1])
    return kind is Any or _is_one(value, kind)


def _all_fit(values: Iterable[object], hint: Any) -> bool:
    """Of long lists only one value of each type is looked at."""
    return all(_fits(one, hint) for one in {type(one): one for one in values}.values())


def _is_one(value: object, kind: Any) -> bool:
    if kind is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    if kind is bool:
        return isinstance(value, bool) or type(value).__name__ == "bool"  # numpy's too.
    if kind is collections.abc.Callable:
        return callable(value)
    if getattr(kind, "_is_protocol", False):
        methods = [name for name, member in vars(kind).items() if isfunction(member) and name[0] != "_"]
        return not isinstance(value, _PLAIN) and all(hasattr(value, name) for name in methods)
    return isinstance(value, {float: Real, Literal: str}.get(kind, kind))
