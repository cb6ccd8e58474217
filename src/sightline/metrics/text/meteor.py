"""METEOR: words aligned by form and stem, with a penalty for scattered matches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from sightline.metrics.context import Context
from sightline.metrics.text.document import TextDocument
from sightline.metrics.text.porter import stem
from sightline.metrics.text.similarity import similarity

_ALPHA, _BETA, _GAMMA = 0.9, 3.0, 0.5


@similarity("meteor")
def meteor(prediction: TextDocument, references: Sequence[TextDocument], context: Context) -> list[float]:
    """(1 - γ (chunks/m)^β) · P R / (α P + (1 - α) R), α = 0.9, β = 3, γ = 0.5; P = m/|prediction|, R = m/|reference|.

    m words are aligned in two passes: same word; same Porter stem. Equals nltk's with that stemmer and no synonyms. No
    word aligned: 0. An identical text of n words scores 1 - 0.5/n³.
    """
    return [_score(prediction.words, reference.words) for reference in references]


def _score(prediction: Sequence[str], reference: Sequence[str]) -> float:
    aligned = _align(prediction, reference)
    if not aligned:
        return 0.0
    precision, recall = len(aligned) / len(prediction), len(aligned) / len(reference)
    mean = precision * recall / (_ALPHA * precision + (1 - _ALPHA) * recall)
    return float((1 - _GAMMA * (_chunks(aligned) / len(aligned)) ** _BETA) * mean)


def _align(prediction: Sequence[str], reference: Sequence[str]) -> dict[int, int]:
    """Position in the prediction → position in the reference, each used once."""
    aligned: dict[int, int] = {}
    forms: tuple[Callable[[str], str], ...] = (str, stem)
    for form in forms:
        taken = set(aligned.values())
        free: dict[str, list[int]] = defaultdict(list)
        for at, word in enumerate(reference):
            if at not in taken:
                free[form(word)].append(at)
        # From the end, each predicted word takes the last free reference word that is the same.
        for at in reversed(range(len(prediction))):
            if at not in aligned and (places := free.get(form(prediction[at]))):
                aligned[at] = places.pop()
    return aligned


def _chunks(aligned: Mapping[int, int]) -> int:
    """Runs of matches that are next to each other in both texts."""
    return sum(aligned.get(at - 1, -2) + 1 != other for at, other in aligned.items())
