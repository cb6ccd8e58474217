"""Batches: the calls of any stage as files that a provider works off within a day, at half the price."""

from sightline.calls.batches.client import BatchClient, BatchServerError
from sightline.calls.batches.completion import BatchSummary, ask_live, finish_live, make_retry, outcomes, write_results
from sightline.calls.batches.job import BatchItem, BatchJob, BatchShard, load_job, read_requests
from sightline.calls.batches.job_files import make_job
from sightline.calls.batches.results import ParsedResults, parse, parse_files
from sightline.calls.batches.store import BatchRow, BatchStore
from sightline.calls.batches.submission import adopt, adopt_ids, cancel, download, refresh, submit, wait

__all__ = [
    "BatchClient",
    "BatchItem",
    "BatchJob",
    "BatchRow",
    "BatchServerError",
    "BatchShard",
    "BatchStore",
    "BatchSummary",
    "ParsedResults",
    "adopt",
    "adopt_ids",
    "ask_live",
    "cancel",
    "download",
    "finish_live",
    "load_job",
    "make_job",
    "make_retry",
    "outcomes",
    "parse",
    "parse_files",
    "read_requests",
    "refresh",
    "submit",
    "wait",
    "write_results",
]
