"""In how many documents of a corpus each word and n-gram occurs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sightline.errors import UserError
from sightline.score.text.similarity import checked
from sightline.score.text.tokens import word_tokens

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
