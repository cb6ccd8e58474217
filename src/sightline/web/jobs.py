"""Long jobs: each is a `sightline` command in a process of its own, kept in the workspace as `jobs/ID`.

A job goes on when the page or the app is closed, and is found again by its process id and the time that it started at.
To pause one is to press Ctrl-C: what is done is kept, and the same command goes on from there.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import psutil

from sightline.engine.progress import PROGRESS_FILE
from sightline.errors import UserError
from sightline.io.jsonl import read_json, write_json
from sightline.io.private import private_folder
from sightline.io.workspace import workspace_option

FOLDER = "jobs"
VERBS = ("scan", "index", "make", "run", "score", "compare", "report")
"""What the app starts; nothing else."""
State: TypeAlias = Literal["running", "stopping", "done", "paused", "stopped", "over budget", "failed", "died"]
_HEADER, _LOG, _PROGRESS = "job.json", "log.txt", "progress.json"
_TAIL = 64 << 10
_TICK_SECONDS = 0.5
_PATIENCE_SECONDS = 20.0
_EARLY = 64
_ENDED: Mapping[object, State] = {0: "done", 3: "over budget", 4: "done"}


@dataclass(frozen=True, slots=True)
class Job:
    """A command as it was started; `then` are the arguments of the one that follows it."""

    id: str
    arguments: tuple[str, ...]
    started: float
    pid: int = 0
    born: float = 0.0
    "When the process started, by the system's clock: another process may get its number later."
    wish: Literal["", "paused", "stopped"] = ""
    wished: float = 0.0
    then: tuple[str, ...] = ()

    @property
    def verb(self) -> str:
        return self.arguments[0]

    @property
    def is_plan(self) -> bool:
        """Does it only say what it would cost?"""
        return "--plan" in self.arguments


@dataclass(frozen=True, slots=True)
class JobStatus:
    """How a job is doing; `total` is None where it is not known."""

    job: Job
    state: State
    command: str
    what: str = ""
    done: int = 0
    total: int | None = None
    log: str = ""

    @property
    def is_active(self) -> bool:
        return self.state in ("running", "stopping")

    @property
    def is_open(self) -> bool:
        """Will there be more to see?"""
        return self.is_active or (self.state == "done" and bool(self.job.then))

    @property
    def output(self) -> str:
        """What it said since it was last started."""
        return textwrap.dedent(re.split(r"^\$ .*\n", self.log, flags=re.MULTILINE)[-1]).strip()


@dataclass
class Jobs:
    """The jobs of a workspace."""

    workspace: Path | None
    _lock: threading.RLock = field(init=False, default_factory=threading.RLock)
    _children: dict[str, subprocess.Popen[bytes]] = field(init=False, default_factory=dict)
    _watcher: threading.Thread | None = field(init=False, default=None)
    active: list[JobStatus] = field(init=False, default_factory=list)
    "Those that run, as the last look had it."
    _due: dict[str, int] = field(init=False, default_factory=dict)
    "How far a job must be until what follows it is started early."

    def __post_init__(self) -> None:
        found = self.all()
        self.active = [status for status in found if status.is_active]
        if any(status.is_active or status.job.then for status in found):
            self._watch()

    def start(self, arguments: Sequence[str], then: Sequence[str] = ()) -> Job:
        """Run a command; `then`, another one when it has ended well."""
        if self.workspace is None or not arguments or arguments[0] not in VERBS:
            raise UserError("This can't be started from here.", f"Jobs are {', '.join(VERBS)}, in a workspace.")
        with self._lock:
            stem = time.strftime("%Y%m%d-%H%M%S")
            taken = {status.job.id for status in self.all()}
            ids = (f"{stem}-{number}" for number in range(1, len(taken) + 2))
            id_ = next(each for each in ids if each not in taken)
            return self._run(Job(id_, tuple(arguments), time.time(), then=tuple(then)))

    def again(self, id_: str) -> Job:
        """Run the same command again: it goes on where it stopped."""
        with self._lock:
            status = self.find(id_)
            if status is None or status.is_active:
                raise UserError("This job is running, or there is none.", "Load the page again.")
            return self._run(replace(status.job, wish="", wished=0.0))

    def end(self, id_: str, wish: Literal["paused", "stopped"]) -> None:
        """Press Ctrl-C; what does not end within some seconds is killed, which costs only time."""
        with self._lock:
            status = self.find(id_)
            if status is None or not status.is_active:
                return
            self._keep(
                replace(status.job, wish=wish, wished=time.time(), then=() if wish == "stopped" else status.job.then)
            )
            self._end(status.job)
            self._watch()

    def forget(self, id_: str) -> None:
        """Take a job that has ended off the list; what it made stays."""
        with self._lock:
            status = self.find(id_)
            if status is not None and not status.is_active:
                for path in self._folder(id_).iterdir():
                    path.unlink()
                self._folder(id_).rmdir()

    def find(self, id_: str) -> JobStatus | None:
        """A job by its id."""
        return next((status for status in self.all() if status.job.id == id_), None)

    def all(self) -> list[JobStatus]:
        """All jobs, the newest first."""
        folder = None if self.workspace is None else self.workspace / FOLDER
        if folder is None or not folder.is_dir():
            return []
        names = sorted((path.name for path in folder.iterdir()), reverse=True)
        return [status for name in names if (status := self._status(name)) is not None]

    # -- processes

    def _run(self, job: Job) -> Job:
        folder = private_folder(self._folder(job.id))
        (folder / _PROGRESS).unlink(missing_ok=True)
        with (folder / _LOG).open("ab") as log:
            log.write(f"$ {self._command(job)}\n".encode())
            log.flush()
            child = subprocess.Popen(
                [sys.executable, "-m", "sightline", *job.arguments, *self._place()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, PROGRESS_FILE: str(folder / _PROGRESS)},
                start_new_session=True,  # Whoever ends the app does not end it.
            )
        self._children[job.id] = child
        born = 0.0
        with suppress(psutil.Error):
            born = psutil.Process(child.pid).create_time()
        job = replace(job, pid=child.pid, born=born)
        self._keep(job)
        self.active = [status for status in self.all() if status.is_active]
        self._watch()
        return job

    def _end(self, job: Job, *, at_once: bool = False) -> None:
        """Press Ctrl-C, or kill; on Windows only the latter reaches a process in a session of its own."""
        if not self._is_alive(job):
            return
        if not hasattr(os, "killpg"):
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(job.pid)], capture_output=True, check=False)
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(job.pid, signal.SIGKILL if at_once else signal.SIGINT)

    def _is_alive(self, job: Job) -> bool:
        child = self._children.get(job.id)
        if child is not None and child.pid == job.pid:
            return child.poll() is None
        try:
            process = psutil.Process(job.pid)
            return bool(process.create_time() == job.born and process.status() != psutil.STATUS_ZOMBIE)
        except (psutil.Error, ValueError):
            return False

    # -- what follows

    def _watch(self) -> None:
        with self._lock:
            if self._watcher is None or not self._watcher.is_alive():
                self._watcher = threading.Thread(target=self._watching, name="sightline-jobs", daemon=True)
                self._watcher.start()

    def _watching(self) -> None:
        """Until nothing runs: start what follows, and kill what does not heed Ctrl-C."""
        while True:
            time.sleep(_TICK_SECONDS)
            with self._lock:
                left = [status for status in self.all() if self._tended(status)]
                self.active = [status for status in left if status.is_active]
                if not left:
                    self._watcher = None
                    return

    def _tended(self, status: JobStatus) -> bool:
        """Is there more to wait for?"""
        job = status.job
        if status.state == "stopping" and time.time() - job.wished > _PATIENCE_SECONDS:
            self._end(job, at_once=True)
        if not job.then:
            return status.is_active
        followed = [other for other in self.all() if other.job.arguments == job.then]
        if status.state == "done":
            if not any(other.is_active for other in followed):
                self._keep(replace(job, then=()))
                self._follow(job.then, followed)
            return True
        due = self._due.get(job.id, _EARLY)
        if status.is_active and status.done >= due and not any(other.is_active for other in followed):
            self._due[job.id] = 2 * status.done
            self._follow(job.then, followed)  # What is there can be searched while the rest comes in.
        return status.is_active

    def _follow(self, arguments: tuple[str, ...], before: Sequence[JobStatus]) -> None:
        if before:
            self._run(replace(before[0].job, wish="", wished=0.0))
        else:
            self.start(arguments)

    # -- files

    def _folder(self, id_: str) -> Path:
        assert self.workspace is not None
        return self.workspace / FOLDER / id_

    def _keep(self, job: Job) -> None:
        write_json(self._folder(job.id) / _HEADER, asdict(job))

    def _place(self) -> list[str]:
        return ["--workspace", str(self.workspace)]

    def _command(self, job: Job) -> str:
        return f"sightline {shlex.join(job.arguments)}{workspace_option(self.workspace)}"

    def _status(self, name: str) -> JobStatus | None:
        folder = self._folder(name)
        try:
            held: dict[str, Any] = read_json(folder / _HEADER)
            job = Job(**{**held, "arguments": tuple(held["arguments"]), "then": tuple(held["then"])})
        except (UserError, OSError, TypeError, KeyError):
            return None
        alive = self._is_alive(job)
        told = _told(folder / _PROGRESS)
        code = told.get("exit")
        if alive:
            state: State = "stopping" if job.wish else "running"
        elif code is None:
            state = job.wish or "died"
        else:
            state = (job.wish or "stopped") if code == 130 else _ENDED.get(code, "failed")
        return JobStatus(
            job,
            state,
            self._command(job),
            str(told.get("what", "")),
            int(told.get("done", 0)),
            told.get("total"),
            _tail(folder / _LOG),
        )


def _told(path: Path) -> Mapping[str, Any]:
    """What the process said of itself; nothing, where it has not begun."""
    try:
        found = read_json(path)
    except (UserError, OSError):
        return {}
    return found if isinstance(found, dict) else {}


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
