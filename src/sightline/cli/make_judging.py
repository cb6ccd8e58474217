"""`sightline make judge|similarity|similarity-retry|audit|assemble`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sightline.cli.asking import Endpoint
from sightline.cli.make_common import AskingJob, Job, JudgedJob, show

Many = Annotated[list[str] | None, Parameter(consume_multiple=False, negative="")]


def judge(*, panel: Many = None, embedder: str | None = None, job: AskingJob = AskingJob()) -> None:
    """Have every picture of each pool judged by those who see it, into qrels.jsonl, seeds first.

    Pools are deepened with what several searches find. A query whose seed is not relevant, or of which a picture could
    not be judged, goes to set_aside.jsonl with the reason; judging.json says how far judges agree and what is missed.

    Parameters
    ----------
    panel:
        A judge, such as openai/gpt-5-mini; repeat it for a panel, of which each judges everything.
    embedder:
        Who searches by vectors, to deepen the pools; the configured one when not given.
    """
    from sightline.make.judge import JudgeStage

    model = job.asking.model
    judges = tuple(panel or ((model,) if model else ()))
    job.ask(JudgeStage(judges, job.batching.wish(), job.engine, embedder))


def similarity(*, embedder: str | None = None, job: JudgedJob = JudgedJob(), endpoint: Endpoint = Endpoint()) -> None:
    """Add to each judged pair how alike its query and its picture are, into qrels_with_score.jsonl.

    Parameters
    ----------
    embedder:
        Who compares them, such as photos or clip-vit-b32; the configured one when not given.
    """
    from sightline.make.similarity import SimilarityStage

    job.run(SimilarityStage(embedder), endpoint.asking(job.common))


def similarity_retry(*, embedder: str | None = None, job: Job = Job(), endpoint: Endpoint = Endpoint()) -> None:
    """Look again at the pairs of qrels_with_score.jsonl that have no similarity; all others stay as they are.

    Parameters
    ----------
    embedder:
        Who compares them; the same one as before.
    """
    from sightline.make.similarity import SimilarityStage

    job.run(SimilarityStage(embedder, retry=True, name="similarity-retry"), endpoint.asking(job.common))


def audit(*, job: JudgedJob = JudgedJob()) -> None:
    """Say what the benchmark is worth: blind baselines, look-alikes, lopsided queries, drift, checked labels.

    The whole of it goes to audit.json and audit.txt. What people decided is read from reviews.jsonl.
    """
    from sightline.make.audit import AuditStage

    result = job.result(AuditStage())
    if job.common.json:
        show(result, job.common)
    else:
        job.common.console.print(result.wrote[1].read_text("utf-8").rstrip(), markup=False, soft_wrap=True)


def assemble(*, bench: Path | None = None, job: JudgedJob = JudgedJob()) -> None:
    """Put the files of the project together into a benchmark that `run`, `score` and `publish` take.

    Parameters
    ----------
    bench:
        The folder of the benchmark; `benchmark` in the project's folder when not given.
    """
    from sightline.make.assemble import AssembleStage

    job.run(AssembleStage(bench))
