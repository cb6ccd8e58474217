"""Where work is done (`local`, `ray` or `ray:HOST:PORT`), and the connection to a Ray cluster.

Ray is imported, connected to or started only when it is asked for.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from types import ModuleType
from typing import Literal, Self

from sightline.errors import UserError, needs_extra

_ADDRESS = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[\w.-]+):(\d{1,5})")
_FORMS = "write local, ray (the cluster of $RAY_ADDRESS, else one that is started here) or ray:HOST:PORT"
_STORE_BYTES = 256 * 2**20
"""For objects on a cluster that is started here: results are small, and Ray would take a third of the memory."""


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """Where the work is done; no `address`: the cluster of `$RAY_ADDRESS`, else one that is started here."""

    kind: Literal["local", "ray"] = "local"
    address: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """`local`, `ray` or `ray:HOST:PORT`."""
        kind, colon, address = text.strip().partition(":")
        if kind == "local" and not colon:
            return cls()
        if kind != "ray":
            raise UserError(f'there is no engine "{text}".', _FORMS)
        if address.startswith("ray://"):
            raise UserError(
                f"{address} is a Ray Client address, from where the journal of this machine can't be reached.",
                "run this on a machine of the cluster, with --engine ray, or hand it in with `ray job submit`",
            )
        if not colon:
            return cls("ray")
        found = _ADDRESS.fullmatch(address)
        if found is None or not 0 < int(found[1]) < 65536:
            raise UserError(f'"{address}" is not the address of a Ray cluster.', _FORMS)
        return cls("ray", address)

    def __str__(self) -> str:
        return self.kind if self.address is None else f"{self.kind}:{self.address}"


def load_ray() -> ModuleType:
    """The package; nothing of it is imported before."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Nothing is reported to anybody.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")  # Else Ray prints news of its workers to our stdout.
    with needs_extra("--engine ray", "ray"):
        import ray
    module: ModuleType = ray
    return module


async def connect(choice: EngineChoice) -> ModuleType:
    """Connect this process to the cluster. It stays connected until it ends, as does a cluster that was started here.

    A program that has connected itself keeps its own connection.
    """
    ray = load_ray()
    if ray.is_initialized():
        _check_same(ray, choice)
    else:
        await asyncio.wrap_future(_in_lasting_thread(lambda: _connect(ray, choice)))
    return ray


def _in_lasting_thread(function: Callable[[], None]) -> Future[None]:
    """Ray ends what it has started when the thread that started it ends: so one that lasts as long as the process."""
    done: Future[None] = Future()
    done.set_running_or_notify_cancel()  # Nobody can cancel it: this thread must not end early.

    def work() -> None:
        try:
            function()
        except BaseException as error:  # Raised again where it is waited for.
            done.set_exception(error)
        else:
            done.set_result(None)
            threading.Event().wait()

    threading.Thread(target=work, name="ray", daemon=True).start()
    return done


def _connect(ray: ModuleType, choice: EngineChoice) -> None:
    address = choice.address or os.environ.get("RAY_ADDRESS")
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address in (None, "", "local"):  # "local" means to Ray what it says.
        ray.init(address="local", include_dashboard=False, object_store_memory=_STORE_BYTES, **quiet)
    else:
        address = EngineChoice.parse(f"ray:{address}").address
        assert address is not None
        _check_answers(address)
        try:
            ray.init(address=address, **quiet)
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            raise _not_part_of(address, first_line(error)) from error


def _check_answers(address: str) -> None:
    """Ray itself would wait for a minute, and then end the process."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except OSError as error:
        raise _not_part_of(address, f"nothing answers at that address ({error.strerror or error})") from error


def _not_part_of(address: str, why: str) -> UserError:
    return UserError(
        f"this machine is not part of a Ray cluster at {address}: {why}.",
        f"join it with `ray start --address={address}`, or leave the address out to work on this machine alone",
    )


def _check_same(ray: ModuleType, choice: EngineChoice) -> None:
    connected = ray.get_runtime_context().gcs_address
    if choice.address is not None and choice.address != connected:
        raise UserError(
            f"this program works on the Ray cluster at {connected} already, not on that at {choice.address}.",
            "one program, one cluster: use the same address, or call ray.shutdown() in between",
        )


def first_line(error: BaseException) -> str:
    """What Ray's errors begin with; the rest is for who mends clusters."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
