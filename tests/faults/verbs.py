"""Every verb on little data, as a function of a folder to what it found; the same folder gives the same."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PIL import Image

import sightline
from runs.run_world import coloured
from search_tools import Colours
from sightline.calls.journal import Journal
from sightline.calls.journal_repair import verify_journal
from sightline.calls.journal_tables import Call
from sightline.calls.ledger import read_ledger
from sightline.calls.session import Session
from sightline.corpus.view import open_corpus
from sightline.models.protocols import CallOutcome
from sightline.runs.folder import read_run, write_run
from sightline.types import Benchmark, ChatReply, ChatRequest, Corpus, Message, Run, Usage

NAMES = ("red", "lime", "blue", "white")
TRUSTED = frozenset({"changed-run"})


def make_place(place: Path) -> Path:
    """Pictures, a workspace with corpus, index and journal, a benchmark, and two runs with scores."""
    (place / "pictures").mkdir(parents=True)
    for name in NAMES:
        Image.new("RGB", (16, 16), name).save(place / "pictures" / f"{name}.png")
    coloured(place / "bench")
    sightline.scan(place / "pictures", workspace=place / "ws")
    sightline.index(place / "pictures", workspace=place / "ws", embedder=Colours())
    ask(place, 6)
    for name in ("first", "second"):
        sightline.run(place / "bench", f"oracle:name={name}", place / "runs" / name, workspace=place / "ws")
        sightline.score(place / "bench", place / "runs" / name)
    shutil.copytree(place / "runs" / "first", place / "begun")
    lines = (place / "begun" / "predictions.jsonl").read_bytes().splitlines(keepends=True)
    write_run(_first_attempts(read_run(place / "begun"), len(lines) // 2), place / "begun")
    return place


def _first_attempts(run: Run, count: int) -> Run:
    from dataclasses import replace

    return replace(run, attempts=run.attempts[:count], ledger=())


# --- the verbs -------------------------------------------------------------------------------------------------------


def scan(place: Path) -> Any:
    summary = sightline.scan(place / "pictures", workspace=place / "ws")
    found = open_corpus(place / "ws")
    return summary.pictures, summary.skipped, [(one.id, one.sha256, one.width) for one in found.pictures.values()]


def index(place: Path) -> Any:
    sightline.index(place / "pictures", workspace=place / "ws", embedder=Colours())
    return search(place)


def search(place: Path) -> Any:
    found = sightline.search("red", workspace=place / "ws", embedder=Colours())
    return [(hit.picture.id, round(hit.score, 5)) for hit in found.hits], found.searched


def validate_bench(place: Path) -> Any:
    return sightline.validate(place / "bench").valid


def validate_run(place: Path) -> Any:
    return sightline.validate(place / "runs" / "first").valid


def run(place: Path) -> Any:
    sightline.run(place / "bench", "oracle:name=first", place / "new", workspace=place / "ws")
    return read_run(place / "new").attempts


def resume(place: Path) -> Any:
    sightline.run(place / "bench", "oracle:name=first", place / "begun", workspace=place / "ws")
    attempts = set(map(repr, read_run(place / "begun").attempts))
    return attempts if sightline.validate(place / "begun").valid else "noticed"


def score(place: Path) -> Any:
    return _numbers(sightline.score(place / "bench", place / "runs" / "first"))


def compare(place: Path) -> Any:
    found = sightline.compare([place / "runs" / "first", place / "runs" / "second"], rehearsal=True)
    return _noticed(found.warnings) or [(pair.metric, pair.difference.mean) for pair in found]


def leaderboard(place: Path) -> Any:
    found = sightline.leaderboard(place / "runs", out=place / "board", rehearsal=True)
    return "noticed" if found.left_out else _noticed(found.warnings) or found.records()


def report(place: Path) -> Any:
    made = sightline.report([place / "bench", place / "runs" / "first"], place / "report.md", rehearsal=True)
    text = (place / "report.md").read_text("utf-8")
    return "changed-run" if "changed after it was written" in text or "changed after they were" in text else repr(made)


def power(place: Path) -> Any:
    return repr(sightline.power(difference=0.1, sd=0.3)), len(NAMES)


def split(place: Path) -> Any:
    sightline.split(place / "bench", place / "parts", parts={"train": 0.5, "test": 0.5})
    return {path.name: path.read_bytes() for path in sorted((place / "parts").rglob("tasks.jsonl"))}


def export(place: Path) -> Any:
    sightline.export_files("beir", place / "bench", place / "exported")
    return {path.name: path.read_bytes() for path in sorted((place / "exported").rglob("*")) if path.is_file()}


def load(place: Path) -> Any:
    made = sightline.load(place / "bench", Benchmark)
    corpus = sightline.load(place / "ws", Corpus)
    return made.checksum, sorted(made.tasks), [repr(picture) for picture in corpus.pictures.values()]


def ledger(place: Path) -> Any:
    total = read_ledger(place / "ws").total
    return "noticed" if total.unpriced else (total.calls, round(total.usd, 9), total.input, total.failures)


def verify(place: Path) -> Any:
    return verify_journal(place / "ws").is_sound


class Echo:
    """A transport that answers at once, for a price."""

    endpoint = "http://echo/v1"

    async def send(self, request: ChatRequest) -> CallOutcome:
        return CallOutcome(ChatReply(f"echo {request.messages[0].content[0]}", usage=Usage(100, output=10)))

    async def close(self) -> None:
        """Nothing is open."""


def ask(place: Path, count: int = 9) -> Any:
    """Requests through the journal, one after the other; six of them were answered before."""
    from sightline.calls.caller import Caller

    async def main() -> list[str]:
        with Journal(place / "ws") as journal:
            caller = Caller(Echo(), journal, prices=_prices(), stage="ask")
            replies = [
                await caller.reply(ChatRequest("openai/echo", (Message("user", (f"question {n}",)),)))
                for n in range(count)
            ]
        return [reply.text if isinstance(reply, ChatReply) else repr(reply) for reply in replies]

    return asyncio.run(main())


def _prices() -> Any:
    from sightline.calls.prices import Prices
    from sightline.config.settings import Price, PriceSettings

    return Prices(PriceSettings(models={"openai/echo": Price(input=10.0, output=10.0)}))


def _numbers(scores: Any) -> Any:
    return _noticed(scores.warnings) or {name: (one.mean, one.low, one.high) for name, one in scores.overall.items()}


def _noticed(warnings: Any) -> str | None:
    return next((warning.code for warning in warnings if warning.code in TRUSTED), None)


VERBS: dict[str, Callable[[Path], Any]] = {
    verb.__name__: verb
    for verb in (
        scan,
        index,
        search,
        validate_bench,
        validate_run,
        run,
        resume,
        score,
        compare,
        leaderboard,
        report,
        power,
        split,
        export,
        load,
        ledger,
        verify,
        ask,
    )
}
READS: dict[str, tuple[str, ...]] = {
    "scan": ("ws/corpus.sqlite",),
    "index": ("ws",),
    "search": ("ws/indexes",),
    "validate_bench": ("bench",),
    "validate_run": ("runs/first",),
    "run": ("bench",),
    "resume": ("begun", "bench"),
    "score": ("bench", "runs/first"),
    "compare": ("runs",),
    "leaderboard": ("runs",),
    "report": ("bench", "runs/first"),
    "power": (),
    "split": ("bench",),
    "export": ("bench",),
    "load": ("bench", "ws/corpus.sqlite"),
    "ledger": ("ws/journal.sqlite",),
    "verify": ("ws/journal.sqlite",),
    "ask": ("ws/journal.sqlite",),
}
NOTICED: frozenset[Any] = frozenset({False, "changed-run", "noticed"})
"""What a verb finds where it says that something is wrong."""


def files_read(place: Path, verb: str) -> Iterator[Path]:
    """Files that a verb reads, and that may be damaged."""
    for name in READS[verb]:
        found = place / name
        paths = sorted([found] if found.is_file() else found.rglob("*"))
        # People edit benchmark.json, and pictures are theirs: only what we write has checksums.
        ours = (path for path in paths if path.is_file() and path.suffix != ".png" and path.name != "benchmark.json")
        yield from ours


__all__ = ["NOTICED", "VERBS", "Call", "Session", "files_read", "make_place"]
