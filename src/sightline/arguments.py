"""Arguments of the public functions, checked where they come in: a wrong type is refused with the fix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from numbers import Integral, Real
from typing import ParamSpec, TypeVar

from sightline.errors import UserError

P = ParamSpec("P")
R = TypeVar("R")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not _is_switch(value)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not _is_switch(value)


def _is_switch(value: object) -> bool:
    return isinstance(value, bool) or type(value).__name__ == "bool"  # numpy's too.


def _is_session(value: object) -> bool:
    return all(hasattr(value, name) for name in ("workspace", "config", "calls"))


# How an annotation is written, what fits it, and what to call that. Paths, metrics and all else are left to the
# function, which can say more.
_KINDS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "str": (_is_text, "a string"),
    "int": (_is_whole, "a whole number"),
    "float": (_is_number, "a number"),
    "bool": (_is_switch, "True or False"),
    "Session": (_is_session, 'a session, such as sightline.Session("ws")'),
}


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which refuses arguments of a wrong type before it begins."""
    known = signature(function)
    kinds = {name: kind for name, one in known.parameters.items() if (kind := _kind(one)) is not None}

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name, value in _given(known, args, kwargs).items():
            if name in kinds and value is not None:
                fits, wanted = kinds[name]
                if not fits(value):
                    raise UserError(f"{function.__name__}: {name} must be {wanted}, not {_shown(value)}.")
        return function(*args, **kwargs)

    return call


def _kind(parameter: Parameter) -> tuple[Callable[[object], bool], str] | None:
    if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) or parameter.name == "metric":
        return None
    return _KINDS.get(str(parameter.annotation).removesuffix(" | None"))


def _given(known: Signature, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Mapping[str, object]:
    """By name; what does not fit the signature is left to the call itself, which says so."""
    try:
        return known.bind(*args, **kwargs).arguments
    except TypeError:
        return {}


def _shown(value: object) -> str:
    return f"{value!r:.60}" if isinstance(value, str | int | float) else f"a {type(value).__name__}"
