"""The one registry: every plug-in by group and name, Sightline's own and those of installed packages.

A package adds plug-ins by entry points; the group is `sightline.` and one of these names (docs/plugins.md):

    [project.entry-points."sightline.metrics"]
    length = "my_package.metrics:length"

Names are listed without importing anything, and a plug-in is imported when it is asked for. A target is
`module:attribute`; where that is a mapping, it holds several plug-ins by name. Sightline's own names are its own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from sightline.errors import SightlineError, UserError, nearest

_log = logging.getLogger(__name__)

_OURS: Mapping[str, Mapping[str, str]] = {
    "embedders": {
        "photos": "sightline.models.embedders.registry:BUILDERS",
        "onnx": "sightline.models.embedders.registry:BUILDERS",
        "transformers": "sightline.models.embedders.registry:BUILDERS",
        "http": "sightline.models.embedders.registry:BUILDERS",
        "https": "sightline.models.embedders.registry:BUILDERS",
    },
    "chat": {
        "transformers": "sightline.train.transport:open_transformers",
        "vllm-local": "sightline.models.local_vllm:open_vllm",
        "builtin": "sightline.models.built_in:open_built_in",
        "scripted": "sightline.models.scripted:open_scripted",
    },
    "systems": {
        "retriever": "sightline.run.systems.retriever:KINDS",
        "hybrid": "sightline.run.systems.retriever:KINDS",
        "http": "sightline.run.systems.http:KINDS",
        "blind": "sightline.run.systems.blind:KINDS",
        "oracle": "sightline.run.systems.oracle:KINDS",
        "cut": "sightline.run.systems.cut:KINDS",
        "chat": "sightline.agent.system_chat:KINDS",
        "agent": "sightline.agent.system:KINDS",
        "vote": "sightline.agent.system_vote:KINDS",
    },
    "metrics": {
        "ap": "sightline.score.ranked.average_precision:average_precision",
        "map": "sightline.score.ranked.average_precision:average_precision",
        "ap_min": "sightline.score.ranked.average_precision_min:average_precision_min",
        "map_min": "sightline.score.ranked.average_precision_min:average_precision_min",
        "bpref": "sightline.score.ranked.bpref:bpref",
        "diversity": "sightline.score.ranked.diversity:diversity",
        "judged": "sightline.score.ranked.judged:judged",
        "ndcg": "sightline.score.ranked.ndcg:ndcg",
        "p": "sightline.score.ranked.precision:precision",
        "rprec": "sightline.score.ranked.r_precision:r_precision",
        "rbp": "sightline.score.ranked.rbp:rank_biased_precision",
        "recall": "sightline.score.ranked.recall:recall",
        "r": "sightline.score.ranked.recall:recall",
        "rr": "sightline.score.ranked.reciprocal_rank:reciprocal_rank",
        "mrr": "sightline.score.ranked.reciprocal_rank:reciprocal_rank",
        "success": "sightline.score.ranked.success:success",
        "hit": "sightline.score.ranked.success:success",
        "em": "sightline.score.sets.exact_match:exact_match",
        "f1": "sightline.score.sets.f1:f1",
        "iou": "sightline.score.sets.iou:iou",
        "set_precision": "sightline.score.sets.precision:set_precision",
        "set_recall": "sightline.score.sets.recall:set_recall",
        "answer": "sightline.score.answers.metrics:answer",
        "answer_exact": "sightline.score.answers.metrics:answer_exact",
        "answer_normalised": "sightline.score.answers.metrics:answer_normalised",
        "answer_numeric": "sightline.score.answers.metrics:answer_numeric",
        "answer_date": "sightline.score.answers.metrics:answer_date",
        "answer_yesno": "sightline.score.answers.metrics:answer_yesno",
        "answer_parts": "sightline.score.answers.metrics:answer_parts",
        "accuracy": "sightline.score.choices.metrics:accuracy",
        "accuracy_parsed": "sightline.score.choices.metrics:accuracy_parsed",
        "choice_parsed": "sightline.score.choices.metrics:choice_parsed",
        "embedding": "sightline.score.text.embedding:embedding",
        "bertscore": "sightline.score.text.bertscore:bertscore",
        "bleu": "sightline.score.text.bleu:bleu",
        "chrf": "sightline.score.text.chrf:chrf",
        "cider": "sightline.score.text.cider:cider",
        "jaccard": "sightline.score.text.jaccard:jaccard",
        "meteor": "sightline.score.text.meteor:meteor",
        "overlap": "sightline.score.text.overlap:overlap",
        "rouge-1": "sightline.score.text.rouge_1:rouge_1",
        "rouge-l": "sightline.score.text.rouge_l:rouge_l",
        "tfidf": "sightline.score.text.tfidf:tfidf",
        "step_coverage": "sightline.score.steps.metrics:step_coverage",
        "step_order": "sightline.score.steps.metrics:step_order",
        "step_contradictions": "sightline.score.steps.metrics:step_contradictions",
        "step_consistency": "sightline.score.steps.metrics:step_consistency",
        "step_score": "sightline.score.steps.metrics:step_score",
    },
    "indexes": {
        "exact": "sightline.search.backends.exact:KIND",
        "faiss": "sightline.search.backends.approximate:KIND",
        "lance": "sightline.search.backends.lance:KIND",
        "postgres": "sightline.search.backends.postgres:KIND",
        "qdrant": "sightline.search.backends.qdrant:KIND",
        "milvus": "sightline.search.backends.milvus:KIND",
        "weaviate": "sightline.search.backends.weaviate:KIND",
    },
    "formats": {
        "trec-qrels": "sightline.bench.formats.trec:FORMATS",
        "trec-run": "sightline.bench.formats.trec:FORMATS",
        "beir": "sightline.bench.formats.beir:FORMATS",
        "mteb": "sightline.bench.formats.mteb:FORMATS",
        "ranx-qrels": "sightline.bench.formats.ranx:FORMATS",
        "ranx-run": "sightline.bench.formats.ranx:FORMATS",
        "benchmaker": "sightline.bench.formats.benchmaker:FORMATS",
        "benchmaker-rows": "sightline.bench.formats.benchmaker:FORMATS",
        "imsearch-eval": "sightline.bench.formats.imsearch_eval:FORMATS",
        "imagefolder": "sightline.bench.formats.imagefolder:FORMATS",
        "hf-parquet": "sightline.bench.formats.hf_parquet:FORMATS",
        "coco": "sightline.bench.formats.coco:FORMATS",
        "webdataset": "sightline.bench.formats.webdataset:FORMATS",
        "vlmevalkit": "sightline.bench.formats.vlmevalkit:FORMATS",
        "inspect": "sightline.bench.formats.inspect_log:FORMATS",
        "lm-eval": "sightline.bench.formats.lm_eval:FORMATS",
        "disbench": "sightline.bench.formats.disbench:FORMATS",
        "disbench-predictions": "sightline.bench.formats.disbench_runs:FORMATS",
        "disbench-submission": "sightline.bench.formats.disbench_runs:FORMATS",
        "imagemining": "sightline.bench.formats.imagemining:FORMATS",
        "mir": "sightline.bench.formats.mir:FORMATS",
        "imagenet-think": "sightline.bench.formats.imagenet_think:FORMATS",
        "llava": "sightline.bench.formats.imagenet_think:FORMATS",
        "corpus-jsonl": "sightline.bench.formats.corpus:FORMATS",
        "corpus-csv": "sightline.bench.formats.corpus:FORMATS",
        "corpus-parquet": "sightline.bench.formats.corpus:FORMATS",
        "atif": "sightline.agent.trajectory_export:FORMATS",
        "ms-swift": "sightline.agent.trajectory_export:FORMATS",
    },
    "tools": {
        "ImageSearch": "sightline.agent.tools.registry:KINDS",
        "GetMetadata": "sightline.agent.tools.registry:KINDS",
        "FilterMetadata": "sightline.agent.tools.registry:KINDS",
        "ViewPhotos": "sightline.agent.tools.registry:KINDS",
        "SimilarTo": "sightline.agent.tools.registry:KINDS",
        "Combine": "sightline.agent.tools.registry:KINDS",
        "Count": "sightline.agent.tools.registry:KINDS",
        "Timeline": "sightline.agent.tools.registry:KINDS",
        "Map": "sightline.agent.tools.registry:KINDS",
        "People": "sightline.agent.tools.registry:KINDS",
        "Crop": "sightline.agent.tools.registry:KINDS",
        "Zoom": "sightline.agent.tools.registry:KINDS",
        "Rotate": "sightline.agent.tools.registry:KINDS",
        "Enhance": "sightline.agent.tools.registry:KINDS",
        "Mark": "sightline.agent.tools.registry:KINDS",
        "Compare": "sightline.agent.tools.registry:KINDS",
        "Measure": "sightline.agent.tools.registry:KINDS",
        "ReadText": "sightline.agent.tools.registry:KINDS",
        "Calculate": "sightline.agent.tools.registry:KINDS",
        "WebSearch": "sightline.agent.tools.registry:KINDS",
        "WebImageSearch": "sightline.agent.tools.registry:KINDS",
        "OpenPage": "sightline.agent.tools.registry:KINDS",
    },
    "planners": {
        "tiers": "sightline.make.plan.tiers:TierPlanner",
    },
    "webs": {},
    "commands": {},
    "models": {
        "photos": "sightline.models.built_in:PHOTOS",
    },
}
"""Name → target, by group; in the order in which they are listed."""
_WORLD: Mapping[str, Mapping[str, str]] = {
    "embedders": {
        "world": "sightline.models.builtin.embedder:open_world",
    },
    "webs": {
        "world": "sightline.world.web.plugin:WEB",
    },
    "commands": {
        "world": "sightline.cli.world:COMMAND",
        "demo": "sightline.cli.world_demo:show_world_demo",
    },
    "models": {
        "world": "sightline.models.builtin.declaration:WORLD",
    },
}
"""The entry points of the package `sightline-world`, until it is one of its own."""
GROUPS = tuple(_OURS)
_WORLD_PACKAGE = "sightline-world"
_IN_WORLD_PACKAGE = (
    ("embedders", "world"),
    ("webs", "world"),
    ("commands", "world"),
    ("commands", "demo"),
    ("models", "world"),
)
"""Names for which the package is named where it is not installed."""
_TYPES = {
    "systems": "sightline.run.systems:Kind",
    "metrics": "sightline.score.registry:Metric",
    "indexes": "sightline.search.backends:VectorIndex",
    "formats": "sightline.bench.formats:Format",
    "tools": "sightline.agent.tools.base:ToolKind",
    "planners": "sightline.make.plan:Planner",
    "webs": "sightline.agent.web:OfflineWebKind",
    "models": "sightline.models.built_in:BuiltInModel",
}
"""What plug-ins of a group are made with; named to the authors of one that imports what is no longer there."""
_MOVED = {
    "bench": "sightline.benchmark",
    "make": "sightline.authoring",
    "mine": "sightline.mining",
    "report": "sightline.reports",
    "run": "sightline.runs",
    "score": "sightline.metrics",
    "search": "sightline.retrieval",
    "samples": "sightline_world.samples",
    "world": "sightline_world",
}
"""Packages of Sightline that had another name up to version 0.1; a plug-in may still import them."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """One plug-in, not imported yet; `package` is the distribution that it comes from, None for Sightline's own."""

    group: str
    name: str
    target: str
    package: str | None
    _get: Callable[[], Any]

    def load(self, of: type | None = None) -> Any:
        """Import it; a package that fails, or brings something that is not an `of`, is named in the error."""
        try:
            found = self._get()
            if isinstance(found, Mapping):
                found = found[self.name]
        except SightlineError:
            raise
        except Exception as error:
            if self.package is None:
                raise
            raise self._broken(error) from error
        if of is not None and not isinstance(found, of):
            wanted = f"{of.__module__}.{of.__qualname__}"
            raise UserError(f"{self} is not a {wanted}.", f"Update {self.package}, or report it to its authors.")
        return found

    def __str__(self) -> str:
        return f'The plug-in "{self.name}" of {self.package or "sightline"} (sightline.{self.group}: {self.target})'

    def _broken(self, error: Exception) -> UserError:
        fix = f"Update {self.package}, or remove it: pip uninstall {self.package}"
        missing = (error.name or "") if isinstance(error, ImportError) else ""
        if missing.startswith("sightline."):
            fix = f"Update {self.package}: {_whereabouts(missing, self.group)}."
        return UserError(f"{self} could not be loaded: {type(error).__name__}: {error}.", fix)


def entry_points(*, group: str) -> Iterable[Any]:
    """The entry points of installed distributions in a group."""
    from importlib.metadata import entry_points as installed  # Here: Sightline's own plug-ins do without it.

    return installed(group=group)


def names(group: str) -> tuple[str, ...]:
    """Every name of a group, Sightline's own first; imports none of them."""
    return tuple(dict.fromkeys((*_OURS[group], *(plugin.name for plugin in installed(group)))))


def is_built_in(group: str, name: str) -> bool:
    """Is it one of Sightline's own?"""
    return name in _OURS[group]


def installed(group: str) -> Iterator[Plugin]:
    """What packages add to a group; not what takes one of Sightline's own names."""
    for name, target in _WORLD.get(group, {}).items():
        yield Plugin(group, name, target, _WORLD_PACKAGE, _importing(target))
    for point in entry_points(group=f"sightline.{group}"):
        if point.name not in _OURS[group]:
            yield _from_entry_point(group, point)


def find(group: str, name: str) -> Plugin | None:
    """The plug-in of that name, not imported yet; None where there is none. Two of one name are refused."""
    target = _OURS[group].get(name)
    if target is not None:
        return Plugin(group, name, target, None, _importing(target))
    found = [plugin for plugin in installed(group) if plugin.name == name]
    if len(found) > 1:
        packages = [plugin.package or plugin.target for plugin in found]
        raise UserError(
            f'"{name}" of the group sightline.{group} comes from several packages: {", ".join(packages)}.',
            f"Keep one of them: pip uninstall {packages[-1]}",
        )
    return found[0] if found else None


def load(group: str, name: str, of: type | None = None) -> Any:
    """The plug-in of that name, imported; a name that nobody has is refused."""
    plugin = find(group, name)
    if plugin is None:
        raise unknown(group, name, f'There is no "{name}" in the group sightline.{group}.')
    return plugin.load(of)


def load_all(group: str, of: type | None = None) -> dict[str, Any]:
    """All plug-ins of a group by name; a broken one is left out, with a warning."""
    found = {}
    for name in names(group):
        try:
            found[name] = load(group, name, of)
        except UserError as error:
            _log.warning("%s", error)
    return found


def is_elsewhere(group: str, name: str) -> bool:
    """Is it known to come from a package that is not installed?"""
    return (group, name) in _IN_WORLD_PACKAGE and find(group, name) is None


def unknown(group: str, name: str, message: str, known: Iterable[str] | None = None) -> UserError:
    """The error for a name that no plug-in has: the package that would bring it, or what was probably meant."""
    if (group, name) in _IN_WORLD_PACKAGE:
        return UserError(
            f'"{name}" is part of the package {_WORLD_PACKAGE}, which is not installed.',
            f"pip install {_WORLD_PACKAGE}",
        )
    listed = names(group) if known is None else tuple(known)
    near = nearest(name.lower(), listed)
    hint = f'Did you mean "{near}"? ' if near else ""
    return UserError(message, f"{hint}Known: {', '.join(listed)}")


def problems() -> list[str]:
    """What is wrong with the plug-ins of installed packages: one line each; imports all of them."""
    found = []
    for group in GROUPS:
        for point in entry_points(group=f"sightline.{group}"):
            if point.name in _OURS[group]:
                found.append(
                    f"{_from_entry_point(group, point)} has a name that Sightline itself uses, and is ignored."
                )
        for name in dict.fromkeys(plugin.name for plugin in installed(group)):
            try:
                load(group, name)
            except UserError as error:
                found.append(str(error))
    return found


def _whereabouts(module: str, group: str) -> str:
    """Where a module of Sightline went that a plug-in still imports."""
    new = _MOVED.get(module.split(".")[1])
    gone = f"{module} is no longer there" if new is None else f"{module} is now in {new}"
    made_with = f"; plug-ins of sightline.{group} are made with {_TYPES[group].replace(':', '.')}"
    return gone + (made_with if group in _TYPES else "")


def _importing(target: str) -> Callable[[], Any]:
    module, _, attribute = target.partition(":")
    return lambda: getattr(import_module(module), attribute)


def _from_entry_point(group: str, point: Any) -> Plugin:
    distribution = getattr(point, "dist", None)
    package = distribution.name if distribution is not None else "another package"
    return Plugin(group, point.name, getattr(point, "value", "?"), package, point.load)
