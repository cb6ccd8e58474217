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

from sightline.errors import SightlineError, UserError, did_you_mean

_log = logging.getLogger(__name__)

_TARGETS: Mapping[str, Mapping[str, str]] = {
    "embedders": {
        "sightline.models.embedders.registry:BUILDERS": "photos onnx transformers http https",
    },
    "chat": {
        "sightline.reason.train.transport:open_transformers": "transformers",
        "sightline.models.local_vllm:open_vllm": "vllm-local",
        "sightline.models.built_in:open_built_in": "builtin",
        "sightline.models.scripted:open_scripted": "scripted",
    },
    "systems": {
        "sightline.runs.systems.retriever:KINDS": "retriever hybrid",
        "sightline.runs.systems.http:KINDS": "http",
        "sightline.runs.systems.blind:KINDS": "blind",
        "sightline.runs.systems.oracle:KINDS": "oracle",
        "sightline.runs.systems.cut:KINDS": "cut",
        "sightline.agent.system_chat:KINDS": "chat",
        "sightline.agent.system:KINDS": "agent",
        "sightline.agent.system_vote:KINDS": "vote",
    },
    "metrics": {
        "sightline.metrics.ranked:average_precision": "ap map",
        "sightline.metrics.ranked:average_precision_min": "ap_min map_min",
        "sightline.metrics.ranked:bpref": "bpref",
        "sightline.metrics.ranked:diversity": "diversity",
        "sightline.metrics.ranked:expected_reciprocal_rank": "err",
        "sightline.metrics.ranked:inferred_average_precision": "infap",
        "sightline.metrics.ranked:interpolated_precision_at": "iprec",
        "sightline.metrics.ranked:eleven_point_average": "11pt_avg",
        "sightline.metrics.ranked:utility": "utility",
        "sightline.metrics.ranked:judged": "judged",
        "sightline.metrics.ranked:ndcg": "ndcg",
        "sightline.metrics.ranked:precision": "p",
        "sightline.metrics.ranked:r_precision": "rprec",
        "sightline.metrics.ranked:rank_biased_precision": "rbp",
        "sightline.metrics.ranked:recall": "recall r",
        "sightline.metrics.ranked:reciprocal_rank": "rr mrr",
        "sightline.metrics.ranked:success": "success hit",
        "sightline.metrics.sets:exact_match": "em",
        "sightline.metrics.sets:f1": "f1",
        "sightline.metrics.sets:iou": "iou",
        "sightline.metrics.sets:set_precision": "set_precision",
        "sightline.metrics.sets:set_recall": "set_recall",
        "sightline.metrics.answers.metrics:answer": "answer",
        "sightline.metrics.answers.metrics:answer_exact": "answer_exact",
        "sightline.metrics.answers.metrics:answer_normalised": "answer_normalised",
        "sightline.metrics.answers.metrics:answer_numeric": "answer_numeric",
        "sightline.metrics.answers.metrics:answer_date": "answer_date",
        "sightline.metrics.answers.metrics:answer_yesno": "answer_yesno",
        "sightline.metrics.answers.metrics:answer_parts": "answer_parts",
        "sightline.metrics.choices.metrics:accuracy": "accuracy",
        "sightline.metrics.choices.metrics:accuracy_parsed": "accuracy_parsed",
        "sightline.metrics.choices.metrics:choice_parsed": "choice_parsed",
        "sightline.metrics.text.embedding:embedding": "embedding",
        "sightline.metrics.text.embedding:bertscore": "bertscore",
        "sightline.metrics.text.ngram_metrics:bleu": "bleu",
        "sightline.metrics.text.ngram_metrics:chrf": "chrf",
        "sightline.metrics.text.ngram_metrics:cider": "cider",
        "sightline.metrics.text.bag_of_words:jaccard": "jaccard",
        "sightline.metrics.text.meteor:meteor": "meteor",
        "sightline.metrics.text.bag_of_words:overlap": "overlap",
        "sightline.metrics.text.rouge:rouge_1": "rouge-1",
        "sightline.metrics.text.rouge:rouge_l": "rouge-l",
        "sightline.metrics.text.bag_of_words:tfidf": "tfidf",
        "sightline.metrics.steps.metrics:step_coverage": "step_coverage",
        "sightline.metrics.steps.metrics:step_order": "step_order",
        "sightline.metrics.steps.metrics:step_contradictions": "step_contradictions",
        "sightline.metrics.steps.metrics:step_consistency": "step_consistency",
        "sightline.metrics.steps.metrics:step_score": "step_score",
    },
    "indexes": {
        "sightline.retrieval.vector_stores.exact:KIND": "exact",
        "sightline.retrieval.vector_stores.faiss:KIND": "faiss",
        "sightline.retrieval.vector_stores.lance:KIND": "lance",
        "sightline.retrieval.vector_stores.postgres:KIND": "postgres",
        "sightline.retrieval.vector_stores.qdrant:KIND": "qdrant",
        "sightline.retrieval.vector_stores.milvus:KIND": "milvus",
        "sightline.retrieval.vector_stores.weaviate:KIND": "weaviate",
    },
    "formats": {
        "sightline.benchmark.formats.trec:FORMATS": "trec-qrels trec-run",
        "sightline.benchmark.formats.beir:FORMATS": "beir",
        "sightline.benchmark.formats.mteb:FORMATS": "mteb",
        "sightline.benchmark.formats.ranx:FORMATS": "ranx-qrels ranx-run",
        "sightline.benchmark.formats.benchmaker:FORMATS": "benchmaker benchmaker-rows",
        "sightline.benchmark.formats.imsearch_eval:FORMATS": "imsearch-eval",
        "sightline.benchmark.formats.imagefolder:FORMATS": "imagefolder",
        "sightline.benchmark.formats.hf_parquet:FORMATS": "hf-parquet",
        "sightline.benchmark.formats.coco:FORMATS": "coco",
        "sightline.benchmark.formats.webdataset:FORMATS": "webdataset",
        "sightline.benchmark.formats.vlmevalkit:FORMATS": "vlmevalkit",
        "sightline.agent.trajectory_export:FORMATS": "inspect atif ms-swift",
        "sightline.benchmark.formats.lm_eval:FORMATS": "lm-eval",
        "sightline.benchmark.formats.disbench:FORMATS": "disbench",
        "sightline.benchmark.formats.disbench_runs:FORMATS": "disbench-predictions disbench-submission",
        "sightline.benchmark.formats.imagemining:FORMATS": "imagemining",
        "sightline.benchmark.formats.mir:FORMATS": "mir",
        "sightline.benchmark.formats.imagenet_think:FORMATS": "imagenet-think llava",
        "sightline.benchmark.formats.corpus:FORMATS": "corpus-jsonl corpus-csv corpus-parquet",
    },
    "tools": {
        "sightline.agent.tools.registry:KINDS": "ImageSearch GetMetadata FilterMetadata ViewPhotos SimilarTo "
        "Combine Count Timeline Map People Crop Zoom Rotate Enhance Mark Compare Measure ReadText Calculate WebSearch "
        "WebImageSearch OpenPage",
    },
    "planners": {
        "sightline.authoring.plan_tiers:TierPlanner": "tiers",
    },
    "webs": {},
    "commands": {},
    "models": {
        "sightline.models.built_in:PHOTOS": "photos",
    },
    "trainable": {},
}
"""Target → its names, by group; in the order in which they are listed."""
_OURS = {
    group: {name: target for target, listed in targets.items() for name in listed.split()}
    for group, targets in _TARGETS.items()
}
GROUPS = tuple(_OURS)
_WORLD_PACKAGE = "sightline-world"
_IN_WORLD_PACKAGE = (
    ("embedders", "world"),
    ("webs", "world"),
    ("commands", "world"),
    ("commands", "demo"),
    ("models", "world"),
    ("trainable", "glimpse"),
    ("trainable", "glimpse-tiny"),
)
"""Names for which the package is named where it is not installed."""
_TYPES = {
    "systems": "sightline.runs.systems:Kind",
    "metrics": "sightline.metrics.registry:Metric",
    "indexes": "sightline.retrieval.vector_stores:VectorIndex",
    "formats": "sightline.benchmark.formats:Format",
    "tools": "sightline.agent.tools.base:ToolKind",
    "planners": "sightline.authoring.plan:Planner",
    "webs": "sightline.agent.web:OfflineWebKind",
    "models": "sightline.models.built_in:BuiltInModel",
}
"""What plug-ins of a group are made with; named to the authors of one that imports what is no longer there."""
_FUNCTIONS = ("embedders", "chat", "metrics", "planners", "trainable")
"""Groups whose plug-ins are functions."""
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
        if isinstance(error, ImportError) and (error.name or "").startswith("sightline."):
            fix = f"Update {self.package}: {_whereabouts(error, self.group)}."
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
            f"pip install {_WORLD_PACKAGE} (in a checkout: pip install packages/{_WORLD_PACKAGE})",
        )
    listed = names(group) if known is None else tuple(known)
    return UserError(message, did_you_mean(name.lower(), listed, f"Known: {', '.join(listed)}"))


@dataclass(frozen=True, slots=True)
class PluginState:
    """A plug-in of an installed package, and what is wrong with it: None where it can be used."""

    plugin: Plugin
    problem: str | None = None
    fix: str | None = None

    def __str__(self) -> str:
        return "\n  ".join(part for part in (self.problem, self.fix) if part)


def survey() -> tuple[PluginState, ...]:
    """Every plug-in of installed packages and whether it can be used; imports all of them."""
    return tuple(
        _state(_from_entry_point(group, point))
        for group in GROUPS
        for point in entry_points(group=f"sightline.{group}")
    )


def _state(plugin: Plugin) -> PluginState:
    group, name = plugin.group, plugin.name
    if name in _OURS[group]:
        return PluginState(plugin, f"{plugin} has a name that Sightline itself uses, and is ignored.")
    try:
        found = load(group, name, _class_of(group))
    except UserError as error:
        return PluginState(plugin, error.message, error.fix)
    if group in _FUNCTIONS and not callable(found):
        return PluginState(
            plugin, f"{plugin} is not a function.", f"Update {plugin.package}, or report it to its authors."
        )
    return PluginState(plugin)


def _class_of(group: str) -> type | None:
    """What plug-ins of the group must be an instance of, where that is a class."""
    if group in (*_FUNCTIONS, "indexes", "commands"):
        return None
    found: type = _importing(_TYPES[group])()
    return found


def problems() -> list[str]:
    """What is wrong with the plug-ins of installed packages: one line each; imports all of them."""
    return list(dict.fromkeys(str(state) for state in survey() if state.problem is not None))


def _whereabouts(error: ImportError, group: str) -> str:
    """Where what a plug-in imports from Sightline went."""
    module = error.name or ""
    new = _MOVED.get(module.split(".")[1])
    if not isinstance(error, ModuleNotFoundError):
        gone = f"{module} no longer has that name"
    else:
        gone = f"{module} is no longer there" if new is None else f"{module} is now in {new}"
    kind = _TYPES.get(group, "").replace(":", ".")
    return f"{gone}; plug-ins of sightline.{group} are made with {kind}" if kind else gone


def _importing(target: str) -> Callable[[], Any]:
    module, _, attribute = target.partition(":")
    return lambda: getattr(import_module(module), attribute)


def _from_entry_point(group: str, point: Any) -> Plugin:
    distribution = getattr(point, "dist", None)
    package = distribution.name if distribution is not None else "another package"
    return Plugin(group, point.name, getattr(point, "value", "?"), package, point.load)
