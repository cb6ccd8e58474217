"""`sightline make read-batch|add-metadata|summary|publish|takedown|status|check-urls|clean`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.make_common import JudgedJob, MakeJob
from sightline.cli.options import Common, Switch, tell
from sightline.english import counted, some
from sightline.errors import FoundError, UserError

if TYPE_CHECKING:
    from sightline.authoring.cleanup import CleanupPlan
    from sightline.authoring.dataset.manifest import PublishTerms
    from sightline.authoring.status import Status

_MOST_SHOWN = 20


def summary(
    bench: Path | None = None,
    /,
    *,
    png: bool = True,
    job: JudgedJob = JudgedJob(),
) -> None:
    """Count and draw what the benchmark holds: one self-contained page, with CSV and PNG files beside it.

    Parameters
    ----------
    bench:
        A benchmark, or a folder with benchmaker's files; the project's own when not given.
    png:
        Draw PNG files too, which needs resvg-py.
    """
    from sightline.authoring.summary import SummaryStage

    job.run(SummaryStage(bench, png))


def publish(
    bench: Path | None = None,
    /,
    *,
    repo: str | None = None,
    dry_run: Switch = False,
    layout: Literal["retrieval", "rows", "full"] = "retrieval",
    splits: str = "test",
    together: str | None = None,
    allow_licenses: str | None = None,
    keep_metadata: Switch = False,
    keep_ids: Switch = False,
    public: Switch = False,
    yes: Switch = False,
    endpoint: str | None = None,
    job: JudgedJob = JudgedJob(),
) -> None:
    """Build the data set as others get it, and put it on the Hugging Face hub.

    Only pictures whose licence lets them be given on are in it, without EXIF and GPS. After a stop, the same command
    goes on where it was.

    Parameters
    ----------
    bench:
        A benchmark, or a folder with benchmaker's files; the project's own when not given.
    repo:
        Where on the hub, as owner/name; publish.repo when not given. The token is HF_TOKEN of the environment.
    dry_run:
        Build the very folder that would be sent, and send nothing.
    layout:
        Tables of pictures, queries and judgments; benchmaker's rows; or every table of the benchmark.
    splits:
        Such as train=0.6,dev=0.2,test=0.2; pictures that belong together stay together.
    together:
        Which relations keep pictures in one split: duplicate,burst,event,owner (all of them when not given).
    allow_licenses:
        Publish pictures under these licences only, such as cc-by-4.0,cc0-1.0; unknown stands for none stated.
    keep_metadata:
        Leave EXIF, GPS and time in the picture files, and place and time in the tables.
    keep_ids:
        Publish pictures under the ids that they have here, which may tell who took them and when.
    public:
        Make it visible to everybody; publish.private decides otherwise.
    yes:
        Confirm that pictures of people may be published, and with --keep-ids their ids.
    endpoint:
        Another hub than huggingface.co.
    """
    from sightline.authoring.dataset.folder import AgreementError
    from sightline.authoring.publish import PublishStage

    stage = PublishStage(
        bench,
        _terms(layout, splits, together, allow_licenses, keep_metadata, keep_ids, job.common),
        repo,
        dry_run,
        yes,
        False if public else None,
        endpoint,
        tell=tell,
    )
    try:
        job.run(stage)
    except AgreementError as asked:
        if not _agreed(f"{asked.message} Publish them?"):
            raise
        job.run(replace(stage, agreed=True))


def takedown(
    hash_: Annotated[str, Parameter(name="HASH")],
    bench: Path | None = None,
    /,
    *,
    runs: Annotated[list[Path] | None, Parameter(negative="", consume_multiple=True)] = None,
    reason: str | None = None,
    upload: Switch = False,
    endpoint: str | None = None,
    job: MakeJob = MakeJob(),
) -> None:
    """Remove a picture from the published folder, and list the tasks and scores that it affects.

    It is noted in takedowns.jsonl of the project, so that no later publish has it. Other pictures keep their split.

    Parameters
    ----------
    hash_:
        The sha256 of the picture, as published or as it lies here (eight digits or more), or its id.
    bench:
        The benchmark that was published; the project's own when not given.
    runs:
        Folders in which runs are looked for.
    reason:
        Why, for the note.
    upload:
        Send the folder to the hub, and drop the history that still has the picture.
    endpoint:
        Another hub than huggingface.co.
    """
    from sightline.authoring.dataset.hub import upload as send
    from sightline.authoring.dataset.takedown import take_down
    from sightline.authoring.project_benchmark import read_project_benchmark
    from sightline.authoring.publish import dataset_folder

    project, common = job.project(), job.common
    folder = dataset_folder(project)
    found = take_down(
        hash_, read_project_benchmark(project, bench), folder, project, runs=tuple(runs or ()), reason=reason
    )
    if upload:
        if common.local_only:
            raise UserError("--local-only allows no upload.", "leave --upload out")
        if found.manifest.repo is None:
            raise UserError("it is not known where it was published.", "publish it: sightline make publish --repo …")
        settings = project.config.publish
        send(folder, found.manifest.repo, settings.token, private=settings.private, endpoint=endpoint, squash=True,
             tell=tell)  # fmt: skip
    if common.json:
        common.print_json(found.to_json())
        return
    lines = [f"  taken down: {', '.join(found.pictures)}", f"  → {folder}"]
    named = f" ({some(found.tasks, 3)})" if found.tasks else ""
    lines.append(f"  {counted(len(found.tasks), 'task')} had it{named}; {len(found.lost_tasks):,} are gone with it")
    lines += [
        f"  {run.folder} ({run.system}): {len(run.tasks):,} {'scores are no longer true' if run.scored else 'tasks'}"
        for run in found.runs
    ]
    common.print("\n".join(lines))


def status(*, job: MakeJob = MakeJob()) -> None:
    """Show which stages are done, what failed, what is out of date, and the next step."""
    from sightline.authoring.status import read_status

    common = job.common
    common.ignores_limit()
    found = read_status(job.project())
    if common.json:
        common.print_json(found.to_json())
    else:
        common.print(_status_text(found))


def check_urls(
    *,
    max_workers: Annotated[int, Parameter(validator=Number(gte=1, lte=256))] = 10,
    timeout: Annotated[float, Parameter(validator=Number(gt=0))] = 10.0,
    allow_private: Switch = False,
    job: MakeJob = MakeJob(),
) -> None:
    """Check the web address of every picture; exit code 4 if some can't be fetched.

    Sightline itself needs no addresses: pictures are read from disk.

    Parameters
    ----------
    max_workers:
        Addresses asked at once.
    timeout:
        Seconds for one answer.
    allow_private:
        Also ask addresses of this machine and its network.
    """
    from sightline.authoring import url_check

    common = job.common
    if common.local_only:
        raise UserError("--local-only allows no call that leaves this machine.", "leave it out to check addresses")
    wanted = url_check.addresses(job.project())
    checked = url_check.check_urls(wanted, at_once=max_workers, timeout=timeout, allow_private=allow_private)
    bad = [one for one in checked if one.problem is not None]
    if common.json:
        common.print_json({"checked": len(checked), "problems": [one.to_json() for one in bad]})
    else:
        for one in bad[:_MOST_SHOWN]:
            common.print(f"  {one.url}: {one.problem}")
        common.console.print(f"  {len(checked) - len(bad):,} of {len(checked):,} pictures are there", markup=False)
    if bad:
        raise FoundError(f"{len(bad):,} of {len(checked):,} addresses give no picture.", "--json lists all of them")


def read_batch(outputs: list[Path], /, *, job: MakeJob = MakeJob()) -> None:
    """Read the output of benchmaker's batches into annotations.jsonl and qrels.jsonl. No model is called.

    Parameters
    ----------
    outputs:
        Output files of batches, with custom_id vision::… or judge::….
    """
    from sightline.authoring.benchmaker_batch import BatchOutputStage

    job.run(BatchOutputStage(tuple(outputs)))


def add_metadata(
    *,
    columns: str | None = None,
    metadata: Path | None = None,
    replace_: Annotated[bool, Parameter(name="--replace", negative="", show_default=False)] = False,
    job: MakeJob = MakeJob(),
) -> None:
    """Copy metadata of the pictures into annotations and judgments.

    Parameters
    ----------
    columns:
        Which columns, such as station,camera; annotate.metadata_columns, data set and media type when not given.
    metadata:
        JSONL, CSV or Parquet with an image_id; the list of pictures when not given.
    replace_:
        Overwrite values that rows have already.
    """
    from sightline.authoring.metadata import MetadataStage

    job.run(MetadataStage(_words(columns or ""), metadata, replace_))


def clean(*, finals: Switch = False, dry_run: Switch = False, yes: Switch = False, job: MakeJob = MakeJob()) -> None:
    """Remove files that stages wrote into the project's folder, unless they were changed since.

    Parameters
    ----------
    finals:
        Also judgments, the benchmark and the data set.
    dry_run:
        List the files, and remove none.
    yes:
        Do not ask.
    """
    from sightline.authoring import cleanup as cleaning

    project = job.project()
    found = cleaning.plan_cleanup(project, finals=finals)
    gone = 0
    if found.remove and not dry_run:
        if not yes and not _agreed(f"Remove {len(found.remove):,} files from {project.folder}?"):
            raise UserError(f"{len(found.remove):,} files would be removed; none was.", "Add --yes, or --dry-run.")
        gone = cleaning.clean(project, found)
    _show_clean(found, gone, job.common)


def _show_clean(found: CleanupPlan, gone: int, common: Common) -> None:
    if common.json:
        kept = {str(path): why for path, why in found.keep.items()}
        common.print_json({"removed": gone, "files": [str(path) for path in found.remove], "kept": kept})
        return
    lines = [f"  {path}" for path in found.remove[:_MOST_SHOWN]]
    lines += [f"  kept {path}: {why}" for path, why in list(found.keep.items())[:_MOST_SHOWN]]
    lines.append(f"  {gone:,} of {len(found.remove):,} files removed, {len(found.keep):,} kept")
    common.print("\n".join(lines))


def _terms(
    layout: str,
    splits: str,
    together: str | None,
    licences: str | None,
    keep_metadata: bool,
    keep_ids: bool,
    common: Common,
) -> PublishTerms:
    from sightline.authoring.dataset.manifest import PublishTerms
    from sightline.authoring.dataset.splits import TOGETHER

    ties = TOGETHER if together is None else _words(together)
    strange = [tie for tie in ties if tie not in TOGETHER]
    if strange:
        raise UserError(f'--together has no "{strange[0]}".', f"choose from {', '.join(TOGETHER)}")
    allowed = None if licences is None else _words(licences)
    return PublishTerms(layout, splits, allowed, tuple(ties), keep_metadata, common.seed or 0, keep_ids)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _status_text(found: Status) -> str:
    lines = [f"  {found.folder}"]
    for stage in found.stages:
        state = "under way" if stage.under_way else "out of date" if stage.stale else "done" if stage.done else "–"
        rows = "" if stage.rows is None else f"{stage.rows:,} rows"
        failed = f", {stage.failed:,} failed" if stage.failed else ""
        cost = f", ${stage.usd:.2f}" if stage.usd else ""
        lines.append(f"  {stage.stage:<11} {state:<12} {rows}{failed}{cost}".rstrip())
    if found.check is not None:
        lines.append(f"  labels: {found.grade}, not checked by people")
        lines.append(f"  next: sightline view {found.check} (check labels)")
    else:
        if found.review is not None:
            lines.append(f"  labels: {found.grade}; correct those that people found wrong: {found.review}")
        lines.append(f"  next: sightline make {found.next_stage}" if found.next_stage else "  all is done")
    return "\n".join(lines)


def _agreed(question: str) -> bool:
    """Ask on the terminal; where there is none, nobody agrees."""
    if not sys.stdin.isatty():
        return False
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in ("y", "yes")
