"""Every verb under injected faults: an error with its fix, or the right result; never a traceback or another number."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from faults.fault_layer import DAMAGES, RUNTIME, damage, injected
from faults.verbs import NOTICED, VERBS, files_read, make_place
from sightline.errors import SightlineError

FEW, MANY = 6, 112
"""Faults for each verb: in `make test`, and in `make test-all` (2,000 in all)."""
WARNED: list[str] = []
SEED = int(os.environ.get("FAULT_SEED", "24"))


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pictures are read in this process, where faults can be injected."""
    monkeypatch.setattr(
        "sightline.corpus.scan.map_in_processes",
        lambda function, items, **_: ((item, function(item)) for item in items),
    )
    WARNED.clear()
    monkeypatch.setattr("sightline.benchmark.folder._log.warning", lambda said, *_: WARNED.append(said))
    yield


@pytest.fixture(scope="module")
def memory() -> Iterator[Path]:
    """A folder in memory where there is one: thousands of copies and syncs are not what is tested."""
    with TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def made(memory: Path) -> Path:
    make_place(memory / "place")
    return Path(shutil.copytree(memory / "place", memory / "made"))


def outcome(verb: str, place: Path) -> Any:
    """What a verb found, or the error that a person would see; anything else is a traceback, and goes on."""
    try:
        return VERBS[verb](place)
    except SightlineError as error:
        assert error.message, "an error says what is wrong"
        return error
    except (OSError, sqlite3.Error) as error:  # The command line says what to do about these.
        return error


def is_right(found: Any, wanted: Any) -> bool:
    if WARNED:  # A changed benchmark is read, and said to be changed.
        WARNED.clear()
        return True
    return isinstance(found, Exception) or found == wanted or (isinstance(found, str | bool) and found in NOTICED)


def fresh(made: Path, memory: Path) -> Path:
    place = memory / "place"
    shutil.rmtree(place, ignore_errors=True)
    return Path(shutil.copytree(made, place))


def schedule(verb: str, count: int) -> Iterator[tuple[int, str, Random]]:
    """Seeds, kinds of faults, and their sources of chance, for one verb."""
    for number in range(count):
        seed = SEED * 1_000_003 + number
        rng = Random(f"{verb} {seed}")
        yield seed, rng.choice(RUNTIME if number % 2 else DAMAGES), rng


def under_faults(verb: str, count: int, made: Path, memory: Path) -> None:
    wanted = outcome(verb, fresh(made, memory))
    assert not isinstance(wanted, Exception), wanted
    with injected(place := fresh(made, memory), "EIO", None) as counted:
        outcome(verb, place)
    for seed, kind, rng in schedule(verb, count):
        place = fresh(made, memory)
        where = f"{verb} {kind}, FAULT_SEED={SEED}, seed {seed}"
        if kind in DAMAGES:
            files = list(files_read(place, verb))
            if not files:
                continue
            path = rng.choice(files)
            damage(path, kind, rng)
            where += f", {path.relative_to(place)}"
            found = outcome(verb, place)
        else:
            with injected(place, kind, rng.randrange(max(1, counted.count))):
                found = outcome(verb, place)
            again = outcome(verb, place)
            assert is_right(again, wanted), f"{where}: run again, it found {again!r}, not {wanted!r}"
        assert is_right(found, wanted), f"{where}: found {found!r}, not {wanted!r}"


@pytest.mark.parametrize("verb", VERBS)
def test_a_few_faults(verb: str, made: Path, memory: Path) -> None:
    under_faults(verb, FEW, made, memory)


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_many_faults(verb: str, made: Path, memory: Path) -> None:
    under_faults(verb, MANY, made, memory)
