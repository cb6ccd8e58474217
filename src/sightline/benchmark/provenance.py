"""Who made what of a benchmark: which models wrote its texts, worded its queries and gave its labels.

A system that reads what such a model wrote, or that is such a model, wins by agreeing with its judge. What follows from
that: texts of models are hidden from systems (`without_model_texts`), and conflicts are named (`same_source`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from textwrap import shorten
from typing import Any, Literal, TypeAlias

from sightline.models.built_in import find_built_in
from sightline.types import Benchmark, Json, Run, ScoreWarning
from sightline.types.chat import split_model

CARD_FIELD = "provenance"
"""Of the card: what `Provenance.to_json` gives."""
SHOW_ANNOTATIONS = "show_annotations"
"""Among the limits of a run: systems were shown texts by models."""
SEARCHED_BY = "searched-by"
"""A stage of a run's ledger: the embedder that a function under test searched with."""
BENCHMAKER = "benchmaker"
"""Stands for the models behind files of benchmaker, which do not name them."""
TEMPLATES = "templates"
MAKERS_WORDS = "labels_made_by"
"""Of the card: who made labels that came with an import, in their makers' words."""
_LONGEST = 400
_ABOUT_LABELS = re.compile(
    r"^#{1,6}[^\n]*(?:annotat|label|judg|relevance|ground.truth)[^\n]*\n\s*(?P<said>[^#\s|<`].*?)(?=\n\s*\n|\n#|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)

_FIXES = {
    "none": "Have labels checked by people (in the app that view opens), or judge with another model.",
    "sample": "Go by the corrected scores, or judge with another model.",
    "all": "Have the queries worded by people or by another model.",
}
Origin: TypeAlias = Literal["made", "given"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """`made`: labels were generated here; `given`: they came with an import. Each tuple holds names of models."""

    origin: Origin
    annotated_by: tuple[str, ...] = ()
    worded_by: tuple[str, ...] = ()
    judged_by: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """For the card."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @property
    def models(self) -> dict[str, tuple[str, ...]]:
        """What each model did, by its name."""
        found: dict[str, list[str]] = {}
        for did, names in (
            ("wrote texts about the pictures", self.annotated_by),
            ("worded the queries", self.worded_by),
            ("gave the labels", self.judged_by),
        ):
            for name in names:
                found.setdefault(name, []).append(did)
        return {name: tuple(did) for name, did in found.items()}

    @property
    def is_rehearsal(self) -> bool:
        """Were all labels given by built-in models? They need no key, and are too weak to draw conclusions from."""
        return self.origin == "made" and bool(self.judged_by) and all(map(is_weak, self.judged_by))


def is_model(name: str | None) -> bool:
    """Is this who wrote a text a model (`provider/name`), and not a person or a file?"""
    return name is not None and ("/" in name or name == BENCHMAKER)


def is_weak(name: str) -> bool:
    """Is this a built-in model?"""
    return name.startswith("builtin/")


def provenance_of(benchmark: Benchmark) -> Provenance:
    """What the card says, and what the annotations and judgments themselves say."""
    said = benchmark.card.get(CARD_FIELD)
    known: Mapping[str, Any] = said if isinstance(said, dict) else {}
    annotators = (note.by for note in benchmark.annotations if note.by is not None and is_model(note.by))
    judges = (one.judge for one in benchmark.judgments)
    made = "judging" in benchmark.card or "retention" in benchmark.card  # Made before cards said so.
    return Provenance(
        "given" if known.get("origin", "made" if made else "given") == "given" else "made",
        _names(known.get("annotated_by"), annotators),
        _names(known.get("worded_by"), ()),
        _names(known.get("judged_by"), judges),
    )


def with_origin(benchmark: Benchmark, source: Path) -> Benchmark:
    """The benchmark with its provenance on the card; one that says so already stays as it is.

    Of labels that came with the files of `source`, what their makers say of them is quoted.
    """
    if CARD_FIELD in benchmark.card:
        return benchmark
    known = provenance_of(benchmark)
    words = makers_words(source) if known.origin == "given" else None
    quote: dict[str, Json] = {} if words is None or MAKERS_WORDS in benchmark.card else {MAKERS_WORDS: words}
    return replace(benchmark, card={**benchmark.card, **quote, CARD_FIELD: known.to_json()})


def makers_words(source: Path) -> str | None:
    """Who made the labels, in the words of the data set's own card (`README.md` in its folder).

    The first paragraph under the first heading about annotations, labels or judgments; None where there is none.
    """
    path = source / "README.md"
    if not path.is_file():
        return None
    found = _ABOUT_LABELS.search(path.read_text("utf-8", errors="replace"))
    text = "" if found is None else " ".join(found["said"].split())
    return shorten(text, _LONGEST, placeholder=" …") or None


def _names(said: object, found: Iterator[str] | tuple[str, ...]) -> tuple[str, ...]:
    listed = said if isinstance(said, list) else []
    return tuple(sorted({*(name for name in listed if isinstance(name, str)), *found}))


def without_model_texts(benchmark: Benchmark) -> Benchmark:
    """The benchmark less the annotations that a model wrote; what people and files brought along stays."""
    kept = tuple(note for note in benchmark.annotations if not is_model(note.by))
    return benchmark if len(kept) == len(benchmark.annotations) else replace(benchmark, annotations=kept)


def same_source(
    benchmark: Benchmark, run: Run, checked: Literal["none", "sample", "all"] = "none"
) -> ScoreWarning | None:
    """The conflict between a run and the models behind its benchmark; None where there is none.

    `checked` is how many of the labels people have decided on. Where they decided on all, labels are no model's.
    """
    known = provenance_of(benchmark)
    if run.limits.get(SHOW_ANNOTATIONS) and known.annotated_by:
        writers = ", ".join(known.annotated_by)
        return ScoreWarning(
            "same-source",
            f"{run.system} was shown texts that {writers} wrote while the benchmark was made.",
            "Run it again without --show-annotations (show_annotations=False).",
        )
    used = set(_names_used(run))
    models = dict.fromkeys(known.worded_by, ("worded the queries",)) if checked == "all" else known.models
    for model, did in models.items():
        if not used.isdisjoint(_aliases(model)):
            told = f"{run.system} uses {model}, which {' and '.join(did)} of this benchmark."
            return ScoreWarning("same-source", told, _FIXES[checked])
    return None


def _aliases(model: str) -> frozenset[str]:
    """The names that a model goes by in the parameters of a run; a built-in one has an embedder of the same weights."""
    found = find_built_in(model) if is_weak(model) else None
    return frozenset({model, split_model(model)[0]} | ({found.embedder} if found is not None else set()))


def _names_used(run: Run) -> Iterator[str]:
    """Every text among the parameters of a run, and who searched for it; of `model@address`, the model."""
    left: list[object] = [dict(run.parameters), [entry.model for entry in run.ledger if entry.stage == SEARCHED_BY]]
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield from (value, split_model(value)[0])
        elif isinstance(value, Mapping):
            left.extend(value.values())
        elif isinstance(value, list | tuple):
            left.extend(value)
