"""What a stage is: files in, files out, and one call; and what stages that call a chat model share.

A price before anything is paid, and a provider's batch at half the price.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from sightline.authoring.project import Project
from sightline.calls.batches.job import MANIFEST
from sightline.calls.batches.job_files import MAX_REQUESTS
from sightline.calls.batches.manager import BatchJobOptions, BatchManager, Requests
from sightline.calls.batches.submission import EVERY, LONGEST, Tell
from sightline.calls.estimate import Range
from sightline.calls.plan import CostPlan, StagePlan
from sightline.config.settings import ChatStageSettings
from sightline.display import Shown
from sightline.engine.cluster import EngineChoice
from sightline.english import counted
from sightline.errors import StoppedError, UserError
from sightline.types import ChatRequest, ImagePart, Message

_NOUNS = (
    "picture", "pair", "file", "table", "chart", "facet", "flag", "word", "label", "verdict", "judgment", "candidate",
    "annotation", "review", "problem", "system", "near-duplicate",
)  # fmt: skip
_SINGULAR = {"queries": "query", "people": "person", **{f"{noun}s": noun for noun in _NOUNS}}
"Nouns among the names of what stages count."


@dataclass(frozen=True, slots=True, repr=False)
class StageResult(Shown):
    """What a stage did: files that it wrote, what it counted (`done`, `kept` from before), and what went wrong.

    `failures` counts what could not be done, by kind; it is in the stage's failed file, line by line. `price` is set
    when the stage was only to say what it would cost; then nothing was written.
    """

    stage: str
    wrote: tuple[Path, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    usd: float | None = 0.0
    seconds: float = 0.0
    price: CostPlan | None = None

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "stage": self.stage,
            "wrote": [str(path) for path in self.wrote],
            "counts": dict(self.counts),
            "failures": dict(self.failures),
            "warnings": list(self.warnings),
            "usd": self.usd,
            "seconds": self.seconds,
            "price": None if self.price is None else self.price.to_json(),
        }

    def __str__(self) -> str:
        """What was counted, what failed, what it cost and where it is."""
        lines = [self._line()]
        if self.failures:
            lines.append(f"{sum(self.failures.values()):,} failed: {counts_text(self.failures)}")
        if self.usd:
            lines.append(f"cost ${self.usd:.4f}")
        if self.stage == "summary":  # A page, with tables and charts beside it.
            lines += [f"→ {self.wrote[0]}", f"  and {counted(len(self.wrote) - 1, 'file')} beside it"]
        else:
            lines += [f"→ {path}" for path in self.wrote]
        return "\n".join(f"  {line}" for line in lines)

    def _line(self) -> str:
        return f"{self.stage}: {counts_text(self.counts)} in {self.seconds:.1f} s"


def counts_text(counts: Mapping[str, int]) -> str:
    """`3 pictures, 1 query`: the names of counts, each in its singular where there is one thing."""
    return ", ".join(f"{count:,} {_one(name) if count == 1 else name}" for name, count in counts.items())


def _one(name: str) -> str:
    """The name of a count for a single thing: `pictures left out` → `picture left out`."""
    return " ".join(_SINGULAR.get(word, word) for word in name.split())


class AuthoringStage(Protocol):
    """One step of making. `writes` are names in `authoring.project.FILES`.

    `run` takes up what an earlier run left, and writes each file whole or not at all. What is paid for goes through
    `calls.ask_many`, so that it is journaled; a used-up budget raises `StoppedError` after what was done has been
    written. With `project.calls.plan` it only says what it would cost.
    """

    @property
    def name(self) -> str: ...

    @property
    def writes(self) -> tuple[str, ...]: ...

    def run(self, project: Project) -> StageResult: ...


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """How a batch is followed: how often the server is asked, how long, and whether to wait at all."""

    wait: bool = True
    every: float = EVERY
    deadline: float = LONGEST
    tell: Tell = lambda _: None


def stage_request(
    model: str, settings: ChatStageSettings, system: str, content: tuple[str | ImagePart, ...], schema: Any, name: str
) -> ChatRequest:
    """A call of a stage, as long and as thoughtful as its settings say."""
    return ChatRequest(
        model,
        (Message("system", (system,)), Message("user", content)),
        schema=schema,
        schema_name=name,
        max_tokens=settings.max_output_tokens,
        reasoning_effort=settings.reasoning_effort,
    )


def free_plan(stage: str, who: str) -> CostPlan:
    """The price of what asks no server."""
    nothing = Range(0.0, 0.0, 0.0)
    return CostPlan((StagePlan(stage, who, 0, 0, nothing, nothing, nothing, None, "work on this machine alone"),))


def require_local_engine(model: str, batch: BatchOptions | None, engine: str) -> None:
    """For a model that is no chat model: it looks at pictures in this process, and nowhere else."""
    if batch is not None:
        raise UserError(f"{model} works on this machine, and has no batches.", "leave --batch out")
    if EngineChoice.parse(engine).kind != "local":
        raise UserError(
            f"{model} works on this machine, in this process: there is nothing for --engine {engine} to spread.",
            "leave --engine out, or ask a chat model: --model …",
        )


def batch_first(
    requests: Requests,
    model: str,
    stage: str,
    settings: ChatStageSettings,
    project: Project,
    options: BatchOptions,
) -> None:
    """Have a provider's batch answer into the journal; the same requests are the same job, in `batches/`.

    What a batch leaves unanswered is asked for live afterwards. Without waiting, nothing is answered yet: that ends
    with `StoppedError`, and the next call goes on with the same job.
    """
    manager = BatchManager(project.session, options.tell)
    job = project.folder / "batches" / f"{stage}-{_fingerprint(requests)}"
    if not (job / MANIFEST).is_file():
        job.parent.mkdir(parents=True, exist_ok=True)
        job_options = BatchJobOptions(stage, settings.batch_size or MAX_REQUESTS, window=settings.batch_window)
        manager.make(requests, model, job, job_options)
    manager.submit(job)
    if not options.wait:
        raise StoppedError(
            f"the batches of {job} are submitted; nothing is answered yet, so nothing was written.",
            "later, run the same command without --no-wait: it goes on with them",
        )
    manager.wait(job, options.every, options.deadline)
    manager.download(job)
    manager.parse(job, partial=True)


def _fingerprint(requests: Requests) -> str:
    """What tells one job from another: ids, words and where pictures lie."""
    found = hashlib.sha256()
    for id_, request in requests():
        found.update(f"{id_}\0{request!r}\0".encode("utf-8", "surrogatepass"))
    return found.hexdigest()[:12]
