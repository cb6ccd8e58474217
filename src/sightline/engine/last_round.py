"""The questions that may still fail before a server that has nothing but errors is given up."""

from __future__ import annotations

from sightline.types import Failure

_QUESTIONS, _CALLS = 30, 100
"""Some have many calls: samples of a question, pictures of a query."""


class LastRound:
    """Who may use up all attempts although a server has nothing but errors; `failure` is the latest of them."""

    __slots__ = ("_count", "_questions", "calls", "failure")

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        self.calls: set[bytes] = set()
        self._questions: set[str | bytes] = set()
        self._count = 0

    def takes(self, call: bytes, question: str | bytes) -> bool:
        """Is there room for this call?"""
        is_known = question in self._questions
        if self._count >= _CALLS or (not is_known and len(self._questions) >= _QUESTIONS):
            return False
        self._questions.add(question)
        self.calls.add(call)
        self._count += 1
        return True
