"""What `retriever` and `hybrid` can be told."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sightline.run.systems.base import Options
from sightline.types import Fusion, Method

Share = Annotated[float, Field(ge=0, le=1)]


class RetrieverOptions(Options):
    """Vectors alone.

    `k` is how far down the ranking goes. `select` is how a select task is answered: with the whole ranking, or with
    the first so many as a set. `own` lets a picture of the prompt be among the answers. `language` is the translation
    of the prompt that is asked.
    """

    embedder: str | None = None
    backend: str = "exact"
    k: Annotated[int, Field(ge=1)] = 100
    select: Literal["ranking"] | Annotated[int, Field(ge=1)] = "ranking"
    text_weight: Share = 0.5
    diversity: Share = 0.0
    depth: Annotated[int, Field(ge=1)] = 100
    threshold: Literal["auto"] | float | None = None
    late: bool = False
    own: bool = False
    language: str | None = None

    def method(self) -> Method:
        """How a query is answered."""
        return Method(
            depth=self.depth,
            text_weight=self.text_weight,
            diversity=self.diversity,
            threshold=self.threshold,
            late=self.late,
        )


class HybridOptions(RetrieverOptions):
    """Vectors and words; each part can be switched off, for ablations.

    `annotations` lets words be searched that the benchmark holds about its pictures; `captions` embeds them as well.
    `words_in_pictures` reads what is written in the pictures.
    """

    vectors: bool = True
    words: bool = True
    annotations: bool = True
    captions: bool = False
    words_in_pictures: bool = False
    picture_weight: Share = 0.7
    vector_weight: Share = 0.6
    fusion: Fusion = "weighted"
    rrf_constant: Annotated[float, Field(gt=0)] = 60.0
    rerank: str | None = None

    def method(self) -> Method:
        return Method(
            vectors=self.vectors,
            words=self.words,
            captions=self.captions,
            picture_weight=self.picture_weight,
            vector_weight=self.vector_weight,
            fusion=self.fusion,
            rrf_constant=self.rrf_constant,
            depth=self.depth,
            text_weight=self.text_weight,
            late=self.late,
            rerank=self.rerank,
            diversity=self.diversity,
            threshold=self.threshold,
        )
