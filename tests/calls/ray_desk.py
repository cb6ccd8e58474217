"""A coordinator and its workers in one process, with everything that goes between them pickled, as on a cluster."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Sequence
from typing import Any, TypeVar

import pytest

from sightline.calls.cluster_worker import CoordinatorLink
from sightline.calls.coordinator import Coordinator, CoordinatorAnswer, WorkerMessage
from sightline.engine.cluster import load_ray
from sightline.errors import MissingExtraError

T = TypeVar("T")


class PickledDesk:
    """The way of one worker to the coordinator; counts round trips, and can be cut."""

    def __init__(self, coordinator: Coordinator, worker: str) -> None:
        self._coordinator, self._worker = coordinator, worker
        self.trips = 0
        coordinator.admit(worker)

    async def tell(self, messages: Sequence[WorkerMessage]) -> Sequence[CoordinatorAnswer]:
        self.trips += 1
        await asyncio.sleep(0.001)
        return _across(await self._coordinator.tell(self._worker, _across(messages)))

    async def hear(self) -> Sequence[CoordinatorAnswer]:
        return _across(await self._coordinator.hear(self._worker))


def link(coordinator: Coordinator, worker: str) -> CoordinatorLink:
    """A worker's link to it."""
    return CoordinatorLink(PickledDesk(coordinator, worker))


def ray_or_skip() -> Any:
    """Ray, imported as Sightline imports it: quiet."""
    try:
        return load_ray()
    except MissingExtraError:
        pytest.skip("Ray is not installed")


def _across(thing: T) -> T:
    there: T = pickle.loads(pickle.dumps(thing))
    return there
