"""Every verb of the command line on little data, and what a command found; the same folder gives the same."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.append(str(Path(__file__).parent.parent / "old_versions"))

from old_version_commands import ASKING, THINKING, WORKSPACE, embedder
from old_version_server import serving as serving
from old_version_server import url_of

from command_line import Commands, plain_environment
from sightline.calls.journal_tables import JOURNAL_FILE, MIGRATIONS, row_checksum
from sightline.io.sqlite import open_database
from sightline.models.embedders.vector_cache import VectorCache

OLD = Path(__file__).parent.parent / "old_versions" / "v0_1_0"
OLD_PLACE = "/tmp/sightline-old-version"
OUT = "out"
VARYING = frozenset(
    {
        "seconds",
        "at",
        "created",
        "made",
        "started",
        "finished",
        "date",
        "time",
        "when",
        "file_at",
        "embedded",
        "indexes",
        "from_cache",
        "p50",
        "p90",
        "p99",
        "slowest",
    }
)
"""Fields that tell when, and how fast, something was done, and how much of it anew."""
WITH_THREADS = frozenset({"onnxruntime", "tokenizers"})
Outcome = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class FaultyCommand:
    """A command; `parts` are the servers that it may ask, `stop` is what it prints before it is interrupted."""

    arguments: tuple[str, ...]
    parts: tuple[str, ...] = ()
    stdin: str = ""
    stop: str | None = None
    codes: tuple[int, ...] = (0,)
    checks: bool = False
    "Does it look for what is wrong, and end with 4 where it finds something?"


def _commands() -> Iterator[tuple[str, FaultyCommand]]:
    for part, arguments in ASKING.items():
        parts = ("search", part) if part in ("rerank", "ask") else (part,)
        yield part, FaultyCommand(tuple(word.replace("OUT", OUT) for word in arguments), parts)
    for name, (words, more) in _PLAIN.items():
        yield name, FaultyCommand(tuple(words.replace("WS", " ".join(WORKSPACE)).split()), **more)


_SEARCH: dict[str, Any] = {"parts": ("search",)}
_MCP = "".join(
    json.dumps({"jsonrpc": "2.0", **each}) + "\n"
    for each in (
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-03-26",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {
            "id": 2,
            "method": "tools/call",
            "params": {"name": "ImageSearch", "arguments": {"text": "a red boat", "top_k": 3}},
        },
    )
)
_PLAIN: dict[str, tuple[str, dict[str, Any]]] = {
    "scan": ("scan pictures --owner-pattern {owner}/* WS --json", {}),
    "scan again": ("scan more WS --json", {}),
    "search": ("search red -k 4 WS --json", _SEARCH),
    "watch": ("watch more WS --json --poll 0.2", {"stop": r"\{.+\}", **_SEARCH}),
    "view": ("view colors runs WS --port 0", {"stop": r"http://\S+", "codes": (0, 130)}),
    "index": (f"index --rebuild --embedder {embedder('search')} WS --json", _SEARCH),
    "make": ("make plan --config make.toml WS --out project", {}),
    "audit": ("make audit --config make.toml WS --out project", {}),
    "assemble": ("make assemble --config make.toml WS --out project", {}),
    "assess": ("assess colors runs/first runs/second --no-open --json", {"stdin": "1\n2\n0\nq\n"}),
    "extend": ("extend colors runs/second --out out --json", {}),
    "drift": ("drift colors queries.txt --json", {}),
    "import": ("import mir mir --out out WS --json", {}),
    "export": ("export beir colors --out out --json", {}),
    "export corpus": ("export corpus-jsonl workspace --out out.jsonl WS --json", {}),
    "formats": ("formats --json", {}),
    "validate": ("validate colors --json", {"checks": True}),
    "validate run": ("validate runs/first --json", {"checks": True}),
    "run": ("run colors --system oracle:name=first WS --out out --json", {}),
    "resume": ("run colors --system oracle:name=first WS --out begun --json", {}),
    "score": ("score colors runs/second --json", {}),
    "compare": ("compare runs/first runs/second --rehearsal --json", {}),
    "report": ("report colors runs/first runs/second --rehearsal --out out.html --json", {}),
    "leaderboard": ("leaderboard runs --out out --rehearsal --json", {}),
    "power": ("power runs/first runs/second --difference 0.1 --json", {}),
    "replay": ("replay runs/agent query_001 --benchmark colors --json", {"parts": ("agent",), "codes": (0, 2, 4)}),
    "split": ("split colors --out out --parts train=0.5,test=0.5 --json", {}),
    "curriculum": ("curriculum graded-steps --plan mir --out out --drop --json", {}),
    "train": ("train course --model nowhere --out out", {"codes": (2,)}),
    "embed": (f"embed texts queries.txt --embedder {embedder('search')} --out out.npz WS --json", _SEARCH),
    "batch": ("batch make requests.jsonl --model openai/m --out out WS", {}),
    "batch list": ("batch list WS --json", {}),
    "ledger": ("ledger WS --json", {}),
    "verify": ("ledger --verify WS --json", {"checks": True}),
    "repair": ("ledger --repair WS --json", {}),
    "mcp": ("mcp --in pictures WS", {"stdin": _MCP, "stop": r'"id":2.+\n', **_SEARCH}),
    "config": ("config show --config make.toml WS --json", {}),
    "doctor": ("doctor WS --json", {}),
    "demo": ("demo --pictures more --out out", {}),
}
COMMANDS: Mapping[str, FaultyCommand] = dict(_commands())


class Place:
    """A folder in which commands run, copied afresh for each from one that was made once."""

    def __init__(self, folder: Path, commands: Commands) -> None:
        self.folder, self.made, self._commands = folder / "place", folder / "made", commands
        self._told = folder / "told.json"
        self._modules: list[str] = []
        self.told: dict[str, Any] = {}
        "How often files were touched in the last command, whether the fault happened, and what was read."

    def fresh(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.made, self.folder)

    def run(self, command: FaultyCommand, kind: str = "slow", at: int | None = None) -> Outcome:
        self._told.unlink(missing_ok=True)
        fault = {"place": str(self.folder), "kind": kind, "at": at, "stop": command.stop, "report": str(self._told)}
        environment = plain_environment(
            OPENAI_BASE_URL=url_of("rerank"), OPENAI_API_KEY="none", XDG_DATA_HOME=str(self.folder / "data")
        )
        done = self._commands.run(
            list(command.arguments), self.folder, environment, stdin=command.stdin, fault=fault, load=self._modules
        )
        self.told = json.loads(self._told.read_text() or "{}")
        # The next command need not load them again, but each has its own of a library whose threads end with a fork.
        modules = [str(name) for name in self.told.get("modules", [])]
        self._modules = [] if any(name.partition(".")[0] in WITH_THREADS for name in modules) else modules
        return done


def make_place(place: Place) -> None:
    """The folders of the old version, brought up to date, with half of their replies forgotten, and new runs."""
    folder = place.folder
    shutil.copytree(OLD, folder)
    for name in (
        "mined",
        "ablated",
        "graded-by-judge",
        "project/benchmark",
        "runs/chat",
        "runs/blind",
        "runs/retriever",
    ):
        shutil.rmtree(folder / name)
    _move_here(folder)
    (folder / "more").mkdir()
    for path in sorted((folder / "pictures").rglob("*.jpg"))[:8]:
        shutil.copy2(path, folder / "more" / path.name)
    shown = sorted((folder / "questions/pictures").rglob("*.jpg"))[:2]
    for path in shown:
        (folder / "mir").mkdir(exist_ok=True)
        shutil.copy2(path, folder / "mir" / path.name)
    question = {"question": "First <image> then <image>. Which way?", "options": ["left", "right"], "conclusion": "A"}
    record = {"id": "q", "images": [path.name for path in shown], **question}
    (folder / "mir" / "all_data_rel.json").write_text(json.dumps([record]))
    (folder / "queries.txt").write_text("a red boat\na blue kite\na green bench\n")
    (folder / f"{OUT}.toml").touch()
    (folder / "requests.jsonl").write_text("".join(f'{{"id": "q{n}", "prompt": "question {n}"}}\n' for n in range(4)))
    begin = [
        "scan pictures --owner-pattern {owner}/* WS",
        "scan thought-about --workspace thinking",
        f"index --embedder {embedder('search')} WS",
        "run colors --system oracle:name=first WS --out runs/first",
        "run colors --system blind:by=random WS --out runs/second",
        "run colors --system oracle:name=first WS --out begun",
        "score colors runs/first",
        "score colors runs/second",
        f"steps graded --model vllm/stepper --base-url {url_of('steps')} --out graded-steps WS",
        "curriculum graded-steps --plan mir --drop --out course",
    ]
    with serving("search"), serving("steps"):
        for line in begin:
            done = place.run(FaultyCommand(tuple(line.replace("WS", " ".join(WORKSPACE)).split())))
            assert done.returncode == 0, f"{line}: {done.stderr}"
    for workspace in (WORKSPACE[1], THINKING[1]):
        with closing(open_database(folder / workspace / JOURNAL_FILE, MIGRATIONS, existing=True)) as database:
            database.execute("DELETE FROM calls WHERE id % 2 = 0 AND stage != 'embed'")
            for row in database.execute("SELECT * FROM calls WHERE checksum IS NULL").fetchall():  # As calls have now.
                database.execute("UPDATE calls SET checksum = ? WHERE id = ?", (row_checksum(row[1:-1]), row[0]))
    _read_vectors(folder / WORKSPACE[1])
    shutil.copytree(folder, place.made)


def _read_vectors(workspace: Path) -> None:
    """Vectors of the old version have no checksums before they are first read."""
    with VectorCache(workspace) as cache:
        for name, revision in cache.database.execute("SELECT name, revision FROM spaces").fetchall():
            identity = SimpleNamespace(name=name, revision=revision)
            found = cache.space(identity)
            assert found is not None
            keys = cache.database.execute("SELECT key FROM vectors WHERE space = ?", (found.id,))
            cache.get_many([key for (key,) in keys], identity)


def _move_here(folder: Path) -> None:
    """The place of the scanned pictures is that of the copy; their times, at which a scan looks, are as they were."""
    for path in folder.rglob("*.jpg"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    listed = folder / "project/images.jsonl"
    listed.write_bytes(listed.read_bytes().replace(OLD_PLACE.encode(), bytes(folder)))
    for workspace in (WORKSPACE[1], THINKING[1]):
        with closing(sqlite3.connect(folder / workspace / "corpus.sqlite")) as database, database:
            database.execute("UPDATE roots SET path = CAST(replace(path, ?, ?) AS BLOB)", (OLD_PLACE, str(folder)))
