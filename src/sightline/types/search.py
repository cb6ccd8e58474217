"""What is looked for, and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sightline.types.corpus import PictureRef
from sightline.types.task import Scope

Fusion: TypeAlias = Literal["weighted", "rrf"]


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """Words, pictures or both; `where` is a filter in the language of docs/filters.md, `scope` limits it further.

    `like` are pictures of the corpus (or regions of them) and `files` pictures outside it, both used as cues, not as
    limits. `k` is how many to return.
    """

    text: str | None = None
    like: tuple[PictureRef, ...] = ()
    files: tuple[str, ...] = ()
    where: str | None = None
    scope: Scope = field(default_factory=Scope)
    k: int = 10


@dataclass(frozen=True, slots=True)
class Method:
    """How a query is answered; each part can be switched off, for ablations.

    `picture_weight` is the share of the picture's own vector against its caption's, where captions are embedded.
    `vector_weight` is the share of vectors against words (BM25) in a weighted fusion: 1 is vectors alone, 0 is words.
    Reciprocal rank fusion (`rrf`) ignores the weight; `depth` is how far down each list it and the re-ranker look.
    `text_weight` is the share of the words where a query has words and pictures, and the embedder can't read both at
    once. `late` compares word by word (MaxSim) down to `depth`, where the index holds token vectors.
    `diversity` (0 to 1) trades nearness for variety; `threshold` leaves out what is less near, "auto" as calibrated.
    """

    vectors: bool = True
    words: bool = False
    captions: bool = False
    picture_weight: float = 0.7
    vector_weight: float = 0.6
    fusion: Fusion = "weighted"
    rrf_constant: float = 60.0
    depth: int = 100
    text_weight: float = 0.5
    late: bool = False
    rerank: str | None = None
    diversity: float = 0.0
    threshold: float | Literal["auto"] | None = None
