"""Text metrics over plain strings, by the names that the tests call them by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from sightline.metrics.context import Context, TextEmbedder
from sightline.metrics.text.similarity import score_texts

Over = Literal["mean", "max"]


def _plain(name: str) -> Callable[..., float]:
    def score(prediction: str, references: Sequence[str], over: Over = "mean") -> float:
        return score_texts(f"{name}(over={over})", prediction, references)

    return score


bleu, chrf, jaccard, meteor, overlap, rouge_1, rouge_l = map(
    _plain, ("bleu", "chrf", "jaccard", "meteor", "overlap", "rouge-1", "rouge-l")
)


def tfidf(
    prediction: str, references: Sequence[str], over: Over = "mean", idf: Mapping[str, float] | None = None
) -> float:
    return score_texts(f"tfidf(over={over})", prediction, references, Context(idf=idf))


def cider(prediction: str, references: Sequence[str], idf: Mapping[str, float], over: Over = "mean") -> float:
    return score_texts(f"cider(over={over})", prediction, references, Context(idf=idf))


def embedding(prediction: str, references: Sequence[str], embedder: TextEmbedder, over: Over = "mean") -> float:
    return score_texts(f"embedding(over={over})", prediction, references, Context(embedder=embedder))


def bertscore(prediction: str, references: Sequence[str], embedder: TextEmbedder, over: Over = "mean") -> float:
    return score_texts(f"bertscore(over={over})", prediction, references, Context(embedder=embedder))
