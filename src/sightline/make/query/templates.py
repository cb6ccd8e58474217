"""Queries with no language model: a few things that were said of the seed, in the form of each style."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice

from sightline.config.making import Difficulty, QueryStyle
from sightline.make.query.words import phrases
from sightline.types import Annotation

BY = "templates"
_MOST = 10
"""Of all that was said of a seed, so much is combined."""
_TRIES = 200
_ASKED_FOR: Mapping[Difficulty, int] = {"easy": 2, "medium": 3, "hard": 4}


class Templates:
    """Writes queries: of core facets and tags before the rest, what few pictures share, yet more than one, first."""

    def __init__(self, notes: Iterable[Annotation], core: Collection[str] = ()) -> None:
        self._core = core
        self._pictures = Counter(phrase.casefold() for note in notes for phrase in phrases(note))

    def versions(self, notes: Sequence[Annotation], style: QueryStyle, difficulty: Difficulty) -> Iterator[str]:
        """Wordings for the same seeds, the best first, each asking for something else."""
        vague = style == "vague"
        said = list(dict.fromkeys(phrase for note in notes for phrase in self._ordered(note, vague)))[:_MOST]
        size = min(len(said), _ASKED_FOR[difficulty] - vague)
        # Fewer things at once where all combinations of so many are taken; more where there are no others.
        for count in dict.fromkeys([*range(size, 0, -1), *range(size + 1, len(said) + 1)]):
            for chosen in islice(combinations(said, count), _TRIES):
                yield _FORMS[style](chosen)

    def _ordered(self, note: Annotation, common_first: bool) -> list[str]:
        tags = {tag.replace("_", " ").strip() for tag in note.tags}
        core = {note.facets[name].replace("_", " ").strip() for name in self._core if name in note.facets}

        def rank(phrase: str) -> tuple[bool, bool, int]:
            count = self._pictures[phrase.casefold()]
            return phrase not in core and phrase not in tags, count < 2, -count if common_first else count

        return sorted(phrases(note, self._core), key=rank)


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


_FORMS: Mapping[QueryStyle, Callable[[Sequence[str]], str]] = {
    "keyword": " ".join,
    "sentence": lambda parts: f"A picture that shows {_listed(parts)}.",
    "question": lambda parts: f"Which pictures show {_listed(parts)}?",
    "vague": lambda parts: f"something about {_listed(parts)}",
}
