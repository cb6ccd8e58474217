"""METEOR: words aligned by form, stem and synonym, with a penalty for scattered matches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from sightline.metrics.context import Context
from sightline.metrics.text.document import TextDocument
from sightline.metrics.text.porter import stem
from sightline.metrics.text.similarity import Over, checked, similarity
from sightline.metrics.text_metric import combine

Synonyms = Mapping[str, Collection[str]]

_ALPHA, _BETA, _GAMMA = 0.9, 3.0, 0.5


def meteor(prediction: str, references: Sequence[str], over: Over = "mean", synonyms: Synonyms | None = None) -> float:
    """(1 - γ (chunks/m)^β) · P R / (α P + (1 - α) R), α = 0.9, β = 3, γ = 0.5; P = m/|prediction|, R = m/|reference|.

    m words are aligned in three passes: same word; same Porter stem; same stem as a word that `synonyms` lists
    for the predicted word or its stem. Equals nltk's with that stemmer where the list holds stems. No word aligned: 0.
    An identical text of n words scores 1 - 0.5/n³.
    """
    own = TextDocument(prediction)
    return combine([_score(own.words, TextDocument(text).words, synonyms) for text in checked(references)], over)


@similarity("meteor")
def _each(prediction: TextDocument, references: Sequence[TextDocument], context: Context) -> list[float]:
    return [_score(prediction.words, reference.words, None) for reference in references]


def _score(prediction: Sequence[str], reference: Sequence[str], synonyms: Synonyms | None) -> float:
    aligned = _align(prediction, reference, synonyms or {})
    if not aligned:
        return 0.0
    precision, recall = len(aligned) / len(prediction), len(aligned) / len(reference)
    mean = precision * recall / (_ALPHA * precision + (1 - _ALPHA) * recall)
    return float((1 - _GAMMA * (_chunks(aligned) / len(aligned)) ** _BETA) * mean)


def _align(prediction: Sequence[str], reference: Sequence[str], synonyms: Synonyms) -> dict[int, int]:
    """Position in the prediction → position in the reference, each used once."""
    aligned: dict[int, int] = {}
    left, right = range(len(prediction)), range(len(reference))
    passes: list[tuple[Callable[[str], Collection[str]], Callable[[str], str]]] = [
        (lambda word: (word,), str),
        (lambda word: (stem(word),), stem),
        (lambda word: _listed(word, synonyms), stem),
    ]
    for wanted, form in passes:
        spare = [at for at in left if at not in aligned]
        taken = set(aligned.values())
        free = [at for at in right if at not in taken]
        aligned |= _pass([(at, wanted(prediction[at])) for at in spare], [(at, form(reference[at])) for at in free])
    return aligned


def _listed(word: str, synonyms: Synonyms) -> set[str]:
    return {stem(other) for form in (word, stem(word)) for other in synonyms.get(form, ())}


def _pass(prediction: Sequence[tuple[int, Collection[str]]], reference: Sequence[tuple[int, str]]) -> dict[int, int]:
    """From the end, each predicted word takes the last free reference word that it may be matched with."""
    places: dict[str, list[int]] = defaultdict(list)
    for at, form in reference:
        places[form].append(at)
    found: dict[int, int] = {}
    for at, forms in reversed(prediction):
        open_places = [places[form] for form in forms if places.get(form)]
        if open_places:
            found[at] = max(open_places, key=lambda positions: positions[-1]).pop()
    return found


def _chunks(aligned: Mapping[int, int]) -> int:
    """Runs of matches that are next to each other in both texts."""
    return sum(aligned.get(at - 1, -2) + 1 != other for at, other in aligned.items())
