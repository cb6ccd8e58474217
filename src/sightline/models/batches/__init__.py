"""Batches: the calls of any stage as files that a provider works off within a day, at half the price."""

from sightline.models.batches.finishing import finish_live
from sightline.models.batches.following import cancel, download, refresh, wait
from sightline.models.batches.job import Item, Job, Shard, load_job
from sightline.models.batches.making import make
from sightline.models.batches.reading import Parsed, parse, parse_files
from sightline.models.batches.requests import read_requests
from sightline.models.batches.rest import Summary, ask_live, make_retry, outcomes, write_results
from sightline.models.batches.sending import adopt, adopt_ids, submit
from sightline.models.batches.server import BatchServer, ServerError
from sightline.models.batches.store import Row, Store

__all__ = [
    "BatchServer",
    "Item",
    "Job",
    "Parsed",
    "Row",
    "ServerError",
    "Shard",
    "Store",
    "Summary",
    "adopt",
    "adopt_ids",
    "ask_live",
    "cancel",
    "download",
    "finish_live",
    "load_job",
    "make",
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
