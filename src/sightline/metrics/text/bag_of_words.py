"""Bag-of-words metrics: document frequencies, Jaccard index, overlap coefficient, cosine of TF-IDF vectors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from operator import mul

import numpy as np

from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.text.document import TextDocument, WordProfile, prefetch_profiles, profiles_of
from sightline.metrics.text.similarity import bounded, checked, similarity
from sightline.metrics.text.tokens import word_tokens

Ngram = tuple[str, ...]


class DocumentFrequency(dict[str, float]):
    """Each word's weight ln((1 + N) / (1 + df)) + 1, to be given as `Context.idf`; longer n-grams beside it."""

    def __init__(self, documents: int, order: int, words: Mapping[str, int], ngrams: Mapping[Ngram, int]) -> None:
        super().__init__({word: smooth_idf(documents, count) for word, count in words.items()})
        self.documents = documents
        self.order = order
        self.unseen = smooth_idf(documents, 0)
        self._words = words
        self._ngrams = ngrams

    def count(self, ngram: Ngram) -> int:
        """In how many documents it occurs; 1 also for an n-gram of several words that occurs in none."""
        return self._words.get(ngram[0], 0) if len(ngram) == 1 else self._ngrams.get(ngram, 1)


def smooth_idf(documents: int, frequency: int) -> float:
    """ln((1 + N) / (1 + df)) + 1, as scikit-learn's `smooth_idf`."""
    return math.log((1 + documents) / (1 + frequency)) + 1.0


def unseen_weight(idf: Mapping[str, float]) -> float:
    """What a word that the corpus lacks weighs: as one of no document; in a plain table, its highest weight."""
    return idf.unseen if isinstance(idf, DocumentFrequency) else max(idf.values(), default=1.0)


def document_frequencies(items: Iterable[Sequence[str]], order: int = 1) -> DocumentFrequency:
    """Count over `items`, each the references of one task and so one document.

    `order` 1 is enough for TF-IDF and BERTScore; CIDEr needs 4, and memory then grows with the distinct n-grams.
    """
    counts: Counter[Ngram] = Counter()
    documents = 0
    for item in items:
        documents += 1
        tokens = [word_tokens(text) for text in checked(item)]
        counts.update({ngram for words in tokens for n in range(1, order + 1) for ngram in ngrams(words, n)})
    if not documents:
        raise UserError("no document to count words in.", "give the references of at least one task")
    words = {ngram[0]: count for ngram, count in counts.items() if len(ngram) == 1}
    # CIDEr takes max(1, df), so an n-gram seen once weighs as much as one never seen and need not be kept.
    longer = {ngram: count for ngram, count in counts.items() if len(ngram) > 1 and count > 1}
    return DocumentFrequency(documents, order, words, longer)


def ngrams(tokens: Sequence[str], n: int) -> Iterable[Ngram]:
    """Every run of n tokens."""
    return zip(*(tokens[start:] for start in range(n)), strict=False)


@similarity("jaccard", prefetch=prefetch_profiles)
def jaccard(prediction: TextDocument, references: Sequence[TextDocument], context: Context) -> list[float]:
    """|A ∩ B| / |A ∪ B| over the distinct words. Both without words: 1; only one: 0."""
    own, *others = profiles_of([prediction, *references])
    return [_index(own, other) for other in others]


def _index(a: WordProfile, b: WordProfile) -> float:
    common = len(a.shared_with(b)[0])
    union = len(a.keys) + len(b.keys) - common
    return common / union if union else 1.0


@similarity("overlap", prefetch=prefetch_profiles)
def overlap(prediction: TextDocument, references: Sequence[TextDocument], context: Context) -> list[float]:
    """|A ∩ B| / min(|A|, |B|) over the distinct words. Both without words: 1; only one: 0."""
    own, *others = profiles_of([prediction, *references])
    return [_coefficient(own, other) for other in others]


def _coefficient(a: WordProfile, b: WordProfile) -> float:
    fewer = min(len(a.keys), len(b.keys))
    return len(a.shared_with(b)[0]) / fewer if fewer else float(len(a.keys) == len(b.keys))


def _tfidf_uses(context: Context) -> str:
    if context.idf is None:
        return "idf over the prediction and its references"
    if isinstance(context.idf, DocumentFrequency):
        return f"idf over {context.idf.documents} documents"
    return "a given table of idf"


def _prefetch_tfidf(documents: Sequence[TextDocument], context: Context) -> None:
    if context.idf is None:
        profiles_of(documents)


@similarity("tfidf", prefetch=_prefetch_tfidf, uses=_tfidf_uses)
def tfidf(prediction: TextDocument, references: Sequence[TextDocument], context: Context) -> list[float]:
    """Cosine of count × idf; idf over the given corpus, else over the prediction and its references.

    Equals scikit-learn's TfidfVectorizer (smooth_idf, l2) with our words and with a vocabulary that covers the two
    texts: a word that the given corpus lacks weighs as one of no document, so invented words lower the score.
    No words on either side, or on both: 0.
    """
    if context.idf is None:
        return _own_cosines(profiles_of([prediction, *references]))
    own = _weights(prediction.counts, context.idf)
    return [_cosine(own, _weights(reference.counts, context.idf)) for reference in references]


def _own_cosines(documents: Sequence[WordProfile]) -> list[float]:
    """Of the first document with each other one, idf counted over these documents."""
    found = [np.ones(len(item.keys), dtype=np.int64) for item in documents]
    shared = {}
    for i, j in combinations(range(len(documents)), 2):
        in_i, in_j = shared[i, j] = documents[i].shared_with(documents[j])
        found[i][in_i] += 1
        found[j][in_j] += 1
    idf = np.array([smooth_idf(len(documents), count) for count in range(len(documents) + 1)])
    vectors = [item.counts * idf[count] for item, count in zip(documents, found, strict=True)]
    lengths = [math.sqrt(vector @ vector) or 1.0 for vector in vectors]
    return [
        bounded(float(vectors[0][shared[0, j][0]] @ vectors[j][shared[0, j][1]]) / (lengths[0] * lengths[j]))
        for j in range(1, len(documents))
    ]


def _weights(counts: Counter[str], idf: Mapping[str, float]) -> dict[str, float]:
    unseen = unseen_weight(idf)
    return {word: count * idf.get(word, unseen) for word, count in counts.items()}


def _cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    common = a.keys() & b.keys()
    dot = math.fsum(map(mul, map(a.__getitem__, common), map(b.__getitem__, common)))
    norm = math.sqrt(_squares(a) * _squares(b))
    return bounded(dot / norm) if norm else 0.0


def _squares(weights: Mapping[str, float]) -> float:
    return math.fsum(map(mul, weights.values(), weights.values()))
