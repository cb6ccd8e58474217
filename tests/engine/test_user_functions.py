"""Functions that a user hands over: names, versions, calls and errors."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from functools import partial
from typing import Any

import pytest

from sightline.engine.user_functions import call, describe_error, fingerprint, function_name


def one(query: str) -> bool:
    return query in {"red", "blue", "green"}


def other(query: str) -> bool:
    return query in {"red", "blue", "grey"}


class Judge:
    def __call__(self, query: str) -> int:
        return 1


class OtherJudge:
    def __call__(self, query: str) -> int:
        return 2


def test_names() -> None:
    assert function_name(one) == "one" and function_name(partial(one, "x")) == "one"
    assert function_name(Judge()) == "Judge" and function_name(lambda: 1) == "function"


def test_a_fingerprint_is_that_of_the_code() -> None:
    marks = [fingerprint(function) for function in (one, other, Judge(), OtherJudge(), len, partial(one, "a"))]
    assert len({*marks, fingerprint(partial(one, "b")), fingerprint(one, other)}) == len(marks) + 2
    assert fingerprint(Judge()) == fingerprint(Judge()) and fingerprint(Judge().__call__) == fingerprint(Judge())
    assert fingerprint(lambda: [x + 1 for x in range(2)]) != fingerprint(lambda: [x + 2 for x in range(2)])


def test_a_fingerprint_is_the_same_in_every_process() -> None:
    code = "def one(query):\n    return query in {'red', 'blue', 'green', 'grey'}\n"
    code += "from sightline.engine.user_functions import fingerprint\nprint(fingerprint(one))"
    said = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(3)
    }
    assert len(said) == 1 and said != {""}


def test_a_plain_function_is_called_in_a_thread_and_an_asynchronous_one_here() -> None:
    async def here() -> str:
        return threading.current_thread().name

    async def both() -> list[Any]:
        return [await call(lambda: threading.current_thread().name), await call(here), await call(partial(here))]

    elsewhere, first, second = asyncio.run(both())
    assert elsewhere != threading.current_thread().name and first == second == threading.current_thread().name


def test_an_error_with_its_cause_is_told_from_the_function_on() -> None:
    def fails() -> None:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise ValueError("outer") from error

    with pytest.raises(ValueError, match="outer") as raised:
        asyncio.run(call(fails))
    told = describe_error(raised.value)
    assert told.startswith("ValueError: outer\n") and "KeyError: 'inner'" in told and "in fails" in told
    assert "describe" not in told
