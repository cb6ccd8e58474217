"""Questions to the agent while they are being answered: each step is kept, and told to whoever listens."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sightline.agent.ask import AskResult
from sightline.agent.trajectory import Record
from sightline.errors import SightlineError

_KEPT = 20
_AT_ONCE = 2


@dataclass
class AgentJob:
    """One question; `events` only grows, and `done` is set when nothing more will come."""

    question: str
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    events: list[Record] = field(default_factory=list)
    asked: AskResult | None = None
    error: str | None = None
    done: bool = False


class AgentJobs:
    """The questions of this sitting."""

    def __init__(self, ask: Callable[..., AskResult] | None = None, model: str | None = None, **given: Any) -> None:
        self._ask, self._given, self.model = ask, given, model
        self._jobs: OrderedDict[str, AgentJob] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, question: str) -> AgentJob | None:
        """Have the agent answer, in a thread of its own; None while as many as may be are under way."""
        with self._lock:
            if sum(not job.done for job in self._jobs.values()) >= _AT_ONCE:
                return None
            job = AgentJob(question)
            self._jobs[job.id] = job
            while len(self._jobs) > _KEPT:
                self._jobs.popitem(last=False)
        threading.Thread(target=self._answer, args=(job,), daemon=True).start()
        return job

    def find(self, id_: str) -> AgentJob | None:
        """A question that was asked in this sitting."""
        return self._jobs.get(id_)

    def _answer(self, job: AgentJob) -> None:
        try:
            if self._ask is None or self.model is None:
                job.error = "No model is named. Name one, or start the app with --model, for example openai/gpt-5-mini."
            else:
                job.asked = self._ask(job.question, model=self.model, watch=job.events.append, **self._given)
        except SightlineError as error:
            job.error = str(error)
        except BaseException:
            job.error = "The agent stopped because of an error in the app; the terminal shows it."
            raise
        finally:
            job.done = True
