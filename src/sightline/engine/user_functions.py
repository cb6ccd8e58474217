"""Functions that a user hands over: their name, what tells two versions of one apart, how they are called.

And what is kept of an error that one raises.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any

UserFunction = Callable[..., Any]
_LONGEST_MESSAGE = 500
_LONGEST_TRACEBACK = 3500
_FRAMES = 20
_OURS = ("engine/user_functions.py", "runs/systems/function.py", "models/embedders/function.py")
_CALLING = ("asyncio", "concurrent/futures")


def function_name(function: object) -> str:
    """What a function is called; the class of an object that can be called; "function" for a lambda."""
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", type(function).__name__)
    return "function" if name == "<lambda>" else str(name)


def fingerprint(*functions: UserFunction) -> str:
    """Changes with the code of the functions, so that results of an older version are not taken for those of this one.

    Whatever a function uses from outside itself (a model, a global) is not part of it.
    """
    content = repr([_content(function) for function in functions])
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def _content(function: UserFunction) -> object:
    if isinstance(function, partial):
        return _content(function.func), repr(function.args), repr(sorted(function.keywords.items()))
    found = inspect.unwrap(getattr(function, "__func__", function))
    own = vars(type(found)).get("__call__")  # Of an object that can be called.
    code = getattr(found, "__code__", None) or getattr(own, "__code__", None)
    return getattr(found, "__qualname__", type(found).__qualname__) if code is None else _plain(code)


def _plain(value: object) -> object:
    """A constant of a function's code, the same in every process."""
    if isinstance(value, CodeType):
        return value.co_code.hex(), value.co_names, tuple(map(_plain, value.co_consts))
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)


async def call(function: UserFunction, *arguments: Any, **named: Any) -> Any:
    """What a function returns: a plain one is called in a thread, so that it may block; an asynchronous one here."""
    if inspect.iscoroutinefunction(function):
        return await function(*arguments, **named)
    said = await asyncio.to_thread(function, *arguments, **named)
    return await said if inspect.isawaitable(said) else said


def describe_error(error: BaseException) -> str:
    """The error in one line, then the end of its traceback, without the frames that called the function."""
    said = f"{type(error).__name__}: {error}"[:_LONGEST_MESSAGE]
    frames = _own_frames(error.__traceback__)
    text = "".join(traceback.format_exception(type(error), error, frames, limit=-_FRAMES)).rstrip()
    return f"{said}\n{text if len(text) <= _LONGEST_TRACEBACK else '…' + text[-_LONGEST_TRACEBACK:]}"


def _own_frames(frames: TracebackType | None) -> TracebackType | None:
    """From the user's function on; all of them where it was never reached."""
    found = frames
    while found is not None and _is_calling(Path(found.tb_frame.f_code.co_filename).as_posix()):
        found = found.tb_next
    return found or frames


def _is_calling(file: str) -> bool:
    return file.endswith(_OURS) or any(f"/{part}/" in file for part in _CALLING)
