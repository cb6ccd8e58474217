"""Chat models of a system under test: opened at the first task, closed at the end."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

from sightline.models.caller import Caller
from sightline.models.chat import open_chat
from sightline.models.opening import find_endpoint
from sightline.run.paid import PaidCalls
from sightline.run.systems.base import Setting
from sightline.types import LedgerEntry


class Models:
    """Models by name, each open once; `paid` is what was asked for a task."""

    def __init__(self, setting: Setting, stage: str, base_url: str | None = None) -> None:
        self._setting, self._stage = setting, stage
        self._asking = setting.asking if base_url is None else replace(setting.asking, base_url=base_url)
        self._open: dict[str, Caller] = {}
        self._stack = AsyncExitStack()
        self._lock = asyncio.Lock()
        self._paid = PaidCalls(setting.workspace, setting.folder)

    def check(self, name: str) -> None:
        """Refuse a name that nobody knows before anything is built."""
        find_endpoint(name, base_url=self._asking.base_url, models=self._setting.config.models)

    async def get(self, name: str) -> Caller:
        """The model, open."""
        async with self._lock:
            if name not in self._open:
                self._open[name] = await self._stack.enter_async_context(
                    open_chat(
                        name,
                        self._setting.config,
                        workspace=self._setting.workspace,
                        asking=self._asking,
                        stage=self._stage,
                    )
                )
            return self._open[name]

    def paid(self, task: str) -> tuple[LedgerEntry, ...]:
        """Calls for a task that were not told before."""
        return self._paid.of(task)

    async def close(self) -> None:
        await self._stack.aclose()
        self._paid.close()
