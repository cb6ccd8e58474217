"""The real command line, in a process of its own; the fixture `cli` runs it.

Starting Python and loading numpy, pydantic and the verbs takes longer than most commands do. So one process loads them,
and each command is a fork of it: its own process, with its own environment, folder, output and exit code.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

Cli = Callable[..., subprocess.CompletedProcess[str]]
SECONDS = 120


def plain_environment(**more: str) -> dict[str, str]:
    """A plain terminal, and nothing that is set for Sightline itself."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SIGHTLINE")}
    return kept | {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONUTF8": "1"} | more


class Commands:
    """Runs commands as forks of one process that has loaded all verbs."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def run(
        self,
        arguments: list[str],
        folder: Path,
        environment: dict[str, str],
        path: Sequence[Path] = (),
        stdin: str = "",
        fault: dict[str, Any] | None = None,
        load: Sequence[str] = (),
    ) -> subprocess.CompletedProcess[str]:
        """Run one command, and give its exit code and what it printed; `path` has more packages.

        `fault`: what `faults.fault_layer.install` takes, in the process of the command. `load`: modules that the
        process which is forked is to load first.
        """
        with self._lock, tempfile.TemporaryDirectory() as place:
            if self._server is None or self._server.poll() is not None:
                self._server = self._start()
            server, out, err, typed = self._server, *(Path(place) / name for name in ("out", "err", "in"))
            typed.write_text(stdin, "utf-8")
            asked = {
                "arguments": arguments,
                "folder": str(folder),
                "environment": environment,
                "path": [*map(str, path)],
                "fault": fault,
                "load": [*load],
            }
            assert server.stdin is not None and server.stdout is not None
            print(
                json.dumps({**asked, "in": str(typed), "out": str(out), "err": str(err)}), file=server.stdin, flush=True
            )
            code = int(server.stdout.readline())
            told = [path.read_text("utf-8") if path.exists() else "" for path in (out, err)]
            return subprocess.CompletedProcess(arguments, code, *told)

    def close(self) -> None:
        """End the process."""
        if self._server is not None and self._server.stdin is not None:
            self._server.stdin.close()
            self._server.wait(SECONDS)

    @staticmethod
    def _start() -> subprocess.Popen[str]:
        command, environment = [sys.executable, str(Path(__file__))], os.environ | {"PYTHONUTF8": "1"}
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=environment
        )


def serve() -> None:
    """Fork for each request; the child returns from here and ends as any Python process does."""
    import gc
    import signal

    import sightline
    from sightline.cli.app import build, main

    for name in sightline.__all__:
        getattr(sightline, name)
    verbs = build()
    for name in verbs:
        verbs[name]  # Loads its module.
    gc.collect()
    gc.freeze()
    replies = os.fdopen(os.dup(1), "w")
    for line in iter(sys.stdin.readline, ""):
        asked = json.loads(line)
        for name in asked["load"]:
            with suppress(ImportError):
                importlib.import_module(name)
        child = os.fork()
        if child:
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=replies, flush=True)
            continue
        signal.alarm(SECONDS)
        for number, path in enumerate((asked["in"], asked["out"], asked["err"])):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), number)
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        sys.path[:0] = asked["path"]
        sys.argv = ["sightline", *asked["arguments"]]
        if asked["fault"] is None:
            main()
            return
        from faults.fault_layer import install

        finish = install(**asked["fault"])
        try:
            main()
        finally:
            finish()
        return


if __name__ == "__main__":
    serve()
