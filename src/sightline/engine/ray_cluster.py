"""Ray itself: looked for, connected to or started, only when it is asked for."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from types import ModuleType

from sightline.engine.spread_choice import EngineChoice
from sightline.errors import MissingExtraError, UserError

_STORE_BYTES = 256 * 2**20
"""For objects on a cluster that is started here: results are small, and Ray would take a third of the memory."""


def load_ray() -> ModuleType:
    """The package; nothing of it is imported before."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Nothing is reported to anybody.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")  # Else Ray prints news of its workers to our stdout.
    try:
        import ray
    except ImportError:
        raise MissingExtraError("--engine ray", "ray") from None
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
        raise _not_part_of(address, f"nobody answers there ({error.strerror or error})") from error


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
