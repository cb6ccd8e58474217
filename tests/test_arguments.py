"""Arguments of a wrong type are refused by every public function, with what is wanted."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import sightline
from sightline.arguments import checked
from sightline.errors import UserError

untyped: Any = sightline
"""Types are wrong on purpose below."""


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: untyped.score("bench", "run", level="x"), "score: level must be a number, not 'x'"),
        (lambda: untyped.score("bench", "run", seed="a"), "seed must be a whole number"),
        (lambda: untyped.search("a dog", k="3"), "k must be a whole number, not '3'"),
        (lambda: untyped.search("a dog", k=True), "k must be a whole number, not True"),
        (lambda: untyped.search("a dog", workspace=3), "Expected the path of a workspace"),
        (lambda: untyped.search("a dog", session="ws"), "session must be a session"),
        (lambda: untyped.Session("ws").search("a dog", where=3), "where must be a string"),
        (lambda: untyped.scan("pictures", limit="x"), "limit must be a whole number"),
        (lambda: untyped.ask(3, model="openai/gpt-5"), "question must be a string, not 3"),
        (lambda: untyped.power(difference="x", sd=0.3), "difference must be a number"),
        (lambda: untyped.run("bench", "retriever", retry_failed="yes"), "retry_failed must be True or False"),
        (lambda: untyped.Session(3), "Expected the path of a workspace"),
    ],
)
def test_a_wrong_type_is_refused_with_what_is_wanted(call: Any, said: str) -> None:
    with pytest.raises(UserError) as refused:
        call()
    assert said in str(refused.value)


def test_what_fits_passes_and_the_signature_stays() -> None:
    def verb(
        path: str, k: int | None = None, level: float = 0.5, names: str | Sequence[str] = (), *, on: bool = False
    ) -> tuple[object, ...]:
        """Says what it was given."""
        return path, k, level, names, on

    guarded = checked(verb)
    given: Any = np.int64(3)
    assert guarded("a", given, 1, ["b"], on=True) == ("a", 3, 1, ["b"], True)
    given = np.float32(0.5)
    assert guarded("a", None, given, "b")[1] is None
    assert inspect.signature(guarded) == inspect.signature(verb) and guarded.__doc__ == verb.__doc__
    with pytest.raises(UserError, match=r"k must be a whole number, not 0\.5"):
        guarded("a", 0.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword"):
        guarded("a", wrong=1)  # type: ignore[call-arg]


def test_verbs_are_the_same_function_each_time() -> None:
    assert sightline.score is sightline.score
    assert sightline.score.__wrapped__.__module__ == "sightline.scoring"  # type: ignore[attr-defined]
