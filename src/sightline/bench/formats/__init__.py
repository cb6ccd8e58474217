"""Every format that a benchmark or a run comes from or goes to; each is loaded when it is first asked for."""

from __future__ import annotations

import difflib
from importlib import import_module
from importlib.metadata import entry_points

from sightline.bench.formats.base import Complaints, Content, Format, Imported, Options
from sightline.errors import UserError

__all__ = ["Complaints", "Content", "Format", "Imported", "Options", "find_format", "format_names"]

# name → the module whose FORMATS holds it: in this package, or (with a dot) in a room above, which is only named here
_BUILT_IN = {
    "trec-qrels": "trec",
    "trec-run": "trec",
    "beir": "beir",
    "mteb": "mteb",
    "ranx-qrels": "ranx",
    "ranx-run": "ranx",
    "benchmaker": "benchmaker",
    "benchmaker-rows": "benchmaker",
    "imsearch-eval": "imsearch_eval",
    "imagefolder": "imagefolder",
    "hf-parquet": "hf_parquet",
    "coco": "coco",
    "webdataset": "webdataset",
    "vlmevalkit": "vlmevalkit",
    "inspect": "inspect_log",
    "lm-eval": "lm_eval",
    "disbench": "disbench",
    "disbench-predictions": "disbench_runs",
    "disbench-submission": "disbench_runs",
    "imagemining": "imagemining",
    "mir": "mir",
    "imagenet-think": "imagenet_think",
    "llava": "imagenet_think",
    "corpus-jsonl": "corpus",
    "corpus-csv": "corpus",
    "corpus-parquet": "corpus",
    "atif": "sightline.agent.trajectory_export",
    "ms-swift": "sightline.agent.trajectory_export",
}


def format_names() -> tuple[str, ...]:
    """Every known format: the built-in ones, and those that other packages add by entry point."""
    return (*_BUILT_IN, *(point.name for point in entry_points(group="sightline.formats")))


def find_format(name: str) -> Format:
    """The format of that name."""
    if name in _BUILT_IN:
        place = _BUILT_IN[name]
        module = import_module(place if "." in place else f"sightline.bench.formats.{place}")
        formats: dict[str, Format] = module.FORMATS
        return formats[name]
    for point in entry_points(group="sightline.formats", name=name):
        loaded: Format = point.load()
        return loaded
    near = difflib.get_close_matches(name, format_names(), n=1)
    hint = f'Did you mean "{near[0]}"? ' if near else ""
    raise UserError(f'unknown format "{name}".', f"{hint}Known: {', '.join(format_names())}")
