"""`sightline make judge|similarity|similarity-retry|audit|assemble|review`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sightline.cli.asking import Endpoint
from sightline.cli.common import Switch
from sightline.cli.make_common import AskingJob, Job, JudgedJob, show
from sightline.errors import UserError

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


def audit(bench: Path | None = None, /, *, job: JudgedJob = JudgedJob()) -> None:
    """Say what the benchmark is worth: blind baselines, look-alikes, lopsided queries, drift, checked labels.

    The whole of it goes to audit.json and audit.txt. What people decided is read from reviews.jsonl.

    Parameters
    ----------
    bench:
        A benchmark that was imported, mined or reviewed; what the project's files make when not given.
    """
    from sightline.make.audit import AuditStage

    result = job.result(AuditStage(bench))
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


def review(
    source: Path | None = None,
    /,
    *,
    bench: Path | None = None,
    people: int = 2,
    accepted_only: Switch = False,
    dry_run: Switch = False,
    job: Job = Job(),
) -> None:
    """Make what people decided count, as the next version of a benchmark; the version before stays as it is.

    Works on any benchmark, also on one that was imported or mined. Labels that enough people agree on replace those of
    the judges, missed pictures that they found become labels, queries get their better words, and rejected ones are
    left out. review.json in the new folder says what was changed, by whom, and what it was before.

    Parameters
    ----------
    source:
        The benchmark that was reviewed; that of the project when not given.
    bench:
        The folder of the new version; the old one's name with the version behind it when not given.
    people:
        So many must agree; 1 where one person's word is enough.
    accepted_only:
        Leave out queries that were not accepted as a whole, too.
    dry_run:
        Say what would change, and write nothing.
    """
    from sightline.make.review import ReviewStage

    if people < 1:
        raise UserError(f"--people {people} is nobody.", "give 1 or more")
    job.run(ReviewStage(source, bench, people, accepted_only, dry_run))
