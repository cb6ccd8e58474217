"""Every verb under injected faults: an error with its fix, or the right result; never a traceback or another number."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from command_line import Commands
from faults.commands import COMMANDS, VARYING, FaultyCommand, Outcome, Place, make_place, serving
from faults.fault_layer import DAMAGES, RUNTIME, damage

SEED = int(os.environ.get("FAULT_SEED", "24"))
EACH, FEW = int(os.environ.get("EACH", "46")), 2
"""Faults for each command (`$EACH`): over 2,000 in all in `make test-all`; and in `make test`, for some commands."""
QUICK = ("scan", "search", "annotate", "think", "run", "score", "validate run", "ledger")
SLOW = {"demo": 6, "mine": 20}
NOTHING_TO_DAMAGE = frozenset({"formats", "doctor", "train"})
OURS = ("workspace/", "thinking/", "colors/", "questions/", "graded", "steps/", "runs/", "begun/", "course/", "traces/")
"""What holds checksums. Configurations, stage files and pictures are also edited by people, and benchmark.json is."""
SAYS_SO = re.compile(
    r"damaged|changed after|changed-run|can(?:'|&#39;)t be (?:read|used)|was brought up to date|not what was written"
    r"|set aside|ends in the middle|That did not work|is not up to date|Not ranked|expected (?:JSON|one JSON|UTF-8)"
    r"|\"sound\": false"
    r"|failed on \d+ task|\"isError\": ?true"
    r"|\d+ (?:failed|skipped|left out|without a reply)|no.reply|bad-picture|unreadable|truncated|not a picture"
)
"""A result that is another says so: what was damaged, or how many were left out and why."""
TEXTS = (".json", ".jsonl", ".csv", ".md", ".txt", ".toml")
FIX = re.compile(r"error: .+\n(?:.*\n)*?  +\S.*")
_MOST_LINES = 60
TRACES = ("Traceback (most recent", "Exception ignored", "Fatal Python error", "Segmentation fault")

pytestmark = [pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="faults are injected on Linux only")]


@pytest.fixture(scope="module")
def place(commands: Commands) -> Iterator[Place]:
    """A folder in memory where there is one: thousands of copies and syncs are not what is tested."""
    with TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        place = Place(Path(folder), commands)
        make_place(place)
        yield place


@dataclass(frozen=True)
class Found:
    """An exit code, what was printed, and the text files that were written, without what varies."""

    code: int
    said: str
    printed: Any
    files: dict[str, Any]


def found(place: Place, done: Outcome) -> Found:
    files = {}
    for path in sorted(place.folder.rglob("*")):
        name = str(path.relative_to(place.folder))
        kept = (
            path.suffix in (".json", ".jsonl", ".csv", ".md", ".txt", ".toml")
            and "/." not in name
            and ".sightline-" not in name
            and path.name != "baselines.json"  # May be missing: it is computed again when it is needed.
        )
        if not kept or not path.is_file() or name.startswith(("workspace/", "thinking/", "data/")):
            continue
        before = place.made / name
        if not before.is_file() or before.read_bytes() != path.read_bytes():
            text = path.read_text("utf-8", errors="replace")
            if "/trajectories/" in name:  # Where a picture could not be read its checksum is null, which says so.
                text = re.sub(r'"sha256": ?(?:null|"[0-9a-f]{64}")', '"sha256":""', text)
            files[name] = steady(text)
    return Found(done.returncode, done.stdout + done.stderr, steady(done.stdout), files)


def steady(text: str) -> Any:
    """Parsed where it is JSON, without what tells when something was done."""
    try:
        return _steady(json.loads(text))
    except ValueError:
        pass
    try:  # What was done before a fault comes first when the rest is done.
        return sorted(json.dumps(_steady(json.loads(line)), sort_keys=True) for line in text.splitlines())
    except ValueError:
        text = re.sub(r" · \d+ repl(?:y|ies) reused", "", text)  # A disk may lose this count of what was saved.
        return re.sub(r"\d[\d.,]*( ?m?s\b| seconds?)|\d{4}-\d\d-\d\d[T ]?[\d:.+Z]*|127.0.0.1:\d+", "…", text)


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _steady(each) for key, each in value.items() if key not in VARYING}
    return [_steady(each) for each in value] if isinstance(value, list) else value


def judge(done: Outcome, now: Found, wanted: Found, command: FaultyCommand, *, strict: bool = True) -> str | None:
    """What is wrong with the end of a command under a fault; None: nothing."""
    said = done.stdout + done.stderr
    if any(sign in said for sign in TRACES):
        return f"a traceback:\n{said}"
    if done.returncode in (2, 3) and done.returncode != wanted.code:
        return None if FIX.search(done.stderr) else f"no fix in:\n{done.stderr}"
    if done.returncode == 4 and command.checks:
        return None
    if done.returncode != wanted.code:
        return f"exit code {done.returncode}:\n{said}"
    is_told = set(SAYS_SO.findall(said)) - set(SAYS_SO.findall(wanted.said))
    if not strict or is_told or replace(now, said="") == replace(wanted, said=""):
        return None
    parts = {"what was printed": (wanted.printed, now.printed)}
    parts |= {name: (wanted.files.get(name), now.files.get(name)) for name in now.files.keys() | wanted.files.keys()}
    shown = "\n".join(_difference(name, *both) for name, both in sorted(parts.items()) if both[0] != both[1])
    return f"another result:\n{shown}\n{done.stderr}"


def _difference(name: str, wanted: Any, now: Any) -> str:
    lines = list(unified_diff(_lines(wanted), _lines(now), name, name, n=1, lineterm=""))
    return "\n".join(lines[:_MOST_LINES])


def _lines(content: Any) -> list[str]:
    if content is None:
        return []
    return (content if isinstance(content, str) else json.dumps(content, indent=1)).splitlines()


def under_faults(name: str, count: int, place: Place, tell: Callable[[str, object], None]) -> None:
    command = COMMANDS[name]
    with ExitStack() as stack:
        for part in command.parts:
            stack.enter_context(serving(part))
        wanted, counts, read = _without_faults(place, command)
        wrong: list[str] = []
        happened, number = 0, 0
        while happened < count and number < 3 * count + 20:
            seed, number = SEED * 1_000_003 + number, number + 1
            rng = Random(f"{name} {seed}")
            place.fresh()
            if number % 2 and read:
                took, said = _damaged(place, command, wanted, read, rng)
            else:
                took, said = _failing(place, command, wanted, counts, rng)
            happened += took
            if said is not None:
                wrong.append(f"{name}, FAULT_SEED={SEED}, seed {seed}: {said}")
    tell("faults", happened)
    tell("FAULT_SEED", SEED)
    assert not wrong, f"{len(wrong)} of {happened} faults\n" + "\n".join(wrong)
    assert happened >= count or name in NOTHING_TO_DAMAGE, f"{name}: only {happened} of {count} faults happened"


def _without_faults(place: Place, command: FaultyCommand) -> tuple[Found, dict[str, int], list[str]]:
    """What is right, how many operations there are for each kind of fault, and the files that are read."""
    counts, results, read = {}, [], set[str]()
    for kind in ("EIO", "ENOSPC", "EIO"):
        place.fresh()
        done = place.run(command, kind)
        assert done.returncode in command.codes, done.stdout + done.stderr
        results.append(found(place, done))
        counts[kind] = place.told["count"]
        read.update(name for name in place.told["read"] if (place.made / name).is_file())
    counts["EROFS"] = counts["ENOSPC"]
    first = results[0]
    files = {
        name: first.files[name]
        for name in first.files
        if all(one.files.get(name) == first.files[name] for one in results)
    }
    assert all(one.printed == first.printed for one in results), "what is printed varies"
    return replace(first, files=files), counts, sorted(read)


def _same_files(now: Found, wanted: Found) -> Found:
    return replace(now, files={name: now.files[name] for name in wanted.files if name in now.files})


def _resumed(one: Found) -> Found:
    """Without what is truly another after a stop: what was paid this time, what was made twice, and shards."""
    files: dict[str, Any] = {}
    for name, content in one.files.items():
        if name.endswith(".jsonl"):
            shards = re.sub(r"-\d{5}\.jsonl$", "-*.jsonl", name)
            lines = content if isinstance(content, list) else [json.dumps(content, sort_keys=True)]
            kept = {re.sub(r'"from_journal": (?:true|false)(?:, )?', "", line) for line in lines}
            files[shards] = sorted({*files.get(shards, ()), *(line for line in kept if '"stage": "index' not in line)})
        elif isinstance(content, dict):
            files[name] = {key: value for key, value in content.items() if key not in ("usd", "after")}
        else:
            files[name] = re.sub(r" in \d+ shards?", "", content) if isinstance(content, str) else content
    return replace(one, files=files)


def _damaged(
    place: Place, command: FaultyCommand, wanted: Found, read: list[str], rng: Random
) -> tuple[bool, str | None]:
    kind, name = rng.choice(DAMAGES), rng.choice(read)
    if not damage(place.folder / name, kind, rng):
        return False, None
    done = place.run(command)
    strict = name.startswith(OURS) and "/pictures/" not in name and not name.endswith("benchmark.json")
    said = judge(done, _same_files(found(place, done), wanted), wanted, command, strict=strict)
    return True, said and f"{kind} of {name}: {said}"


def _failing(
    place: Place, command: FaultyCommand, wanted: Found, counts: dict[str, int], rng: Random
) -> tuple[bool, str | None]:
    kind = rng.choice(RUNTIME)
    at = rng.randrange(max(1, counts.get(kind, counts["EIO"])))
    done = place.run(command, kind, at)
    where = place.told.get("where")
    if not place.told.get("happened", True):
        return False, None
    said = judge(done, _same_files(found(place, done), wanted), wanted, command)
    if said is None and done.returncode != wanted.code:
        again = place.run(command)
        now, before = _resumed(found(place, again)), _resumed(wanted)
        # The same answers that are typed once more are those to other questions.
        same = replace(_same_files(now, before), printed=before.printed)
        said = judge(again, same, before, command, strict=not command.stdin)
        said = said and f"after {done.stderr}run again: {said}"
    return True, said and f"{kind} at {at} ({where}): {said}"


@pytest.mark.parametrize("name", QUICK)
def test_a_few_faults(name: str, place: Place, record_property: Callable[[str, object], None]) -> None:
    under_faults(name, FEW, place, record_property)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_many_faults(name: str, place: Place, record_property: Callable[[str, object], None]) -> None:
    under_faults(name, SLOW.get(name, EACH), place, record_property)


def test_every_verb_is_tried() -> None:
    from sightline.cli.app import _VERBS

    verbs = {name for group in _VERBS.values() for name, *_ in group}
    assert verbs == {command.arguments[0] for command in COMMANDS.values()}
