"""What all tests of agents have in common."""

from __future__ import annotations

import pytest

from sightline.calls.retry import RetryPolicy


@pytest.fixture(autouse=True)
def _tried_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed call is tried again without a pause: how long pauses are, the tests of models and calls look at."""
    monkeypatch.setattr(RetryPolicy, "pause", lambda *_: 0.0)
