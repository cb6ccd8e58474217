"""Queries with no language model: a few things that were said of the seed, in the form of each style."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice, product

from sightline.config.making import Difficulty, QueryStyle
from sightline.make.files import LOOK_ALIKE
from sightline.make.query.english import SAYS_NOTHING, Clause, Part, part_of, place_of, with_article
from sightline.make.query.words import content, phrases
from sightline.types import Annotation

BY = "templates"
_MOST = 10
"""Of all that was said of a seed, so much is combined."""
_TRIES = 200
_PLACES = frozenset({"environment", "location", "place", "scene", "setting", "where"})
"""Facets that say where a picture was taken."""
_ASKED_FOR: Mapping[Difficulty, int] = {"easy": 2, "medium": 3, "hard": 4}
_FEW = 10
"""A query that more pictures fit, and more than one in so many, is no test."""
_SHARED_BY: Mapping[Difficulty, int] = {"easy": 4, "medium": 3, "hard": 2}
"""A query is to find so many pictures, itself among them, by what was said of them."""


class Templates:
    """Writes queries: what is shown before how it looks, and of that what few pictures share, yet some."""

    def __init__(self, notes: Iterable[Annotation], core: Collection[str] = ()) -> None:
        self._core = core
        self._pictures: dict[str, set[str]] = {}
        looks = set()
        for note in notes:
            # Pictures that look the same count once: a copy of the seed is no other picture to be found.
            look = str(note.extra.get(LOOK_ALIKE) or note.picture_id)
            looks.add(look)
            parts = _parts(note)
            for key in (*_keys(parts), *(_some(part) for part in parts if part.role == "colour")):
                self._pictures.setdefault(key, set()).add(look)
        self._many = max(_FEW, len(looks) // _FEW)

    def versions(self, notes: Sequence[Annotation], style: QueryStyle, difficulty: Difficulty) -> Iterator[str]:
        """Wordings for the same seeds, the best first, each asking for something else.

        What says something of what is shown comes first, and of that what several pictures are said to have, but not
        many: by the rest little but the seed, or half of the collection, could be found.
        """
        vague, few = style == "vague", _SHARED_BY[difficulty]
        said = self._shared(notes, vague)[:_MOST]
        size = min(len(said), _ASKED_FOR[difficulty] - vague)
        # Fewer things at once where all combinations of so many are taken; more where there are no others.
        counts = dict.fromkeys([*range(size, 0, -1), *range(size + 1, len(said) + 1)])
        for kind in product((True, False), repeat=2):
            for count in counts:
                sound = (chosen for chosen in combinations(said, count) if _is_sound(chosen, said))
                fitting = (chosen for chosen in sound if (_shows(chosen), self._is_shared(chosen, few)) == kind)
                yield from (_FORMS[style](chosen) for chosen in islice(fitting, _TRIES))

    def _is_shared(self, chosen: Sequence[Part], few: int) -> bool:
        """Are several pictures said to have all of it, but not many?"""
        having = [self._pictures.get(key, set()) for key in _keys(chosen)]
        return few <= len(set[str].intersection(*having)) <= self._many

    def _shared(self, notes: Sequence[Annotation], common_first: bool) -> list[Part]:
        """What was said of every seed; of any of them, where they share nothing."""
        each = [self._ordered(note, common_first) for note in notes]
        found = list(dict.fromkeys(part for parts in each for part in parts))
        return [part for part in found if all(part in parts for parts in each)] or found

    def _ordered(self, note: Annotation, common_first: bool) -> list[Part]:
        told = {tag.replace("_", " ").strip() for tag in note.tags}
        told |= {note.facets[name].replace("_", " ").strip() for name in self._core if name in note.facets}

        def rank(part: Part) -> tuple[bool, bool, bool, int]:
            if part.role == "colour":  # Last, and in their own order: the one that covers most is the first.
                return True, False, False, 0
            count = len(self._pictures.get(part.said.casefold(), ()))
            return False, part.said not in told, count < 2, -count if common_first else count

        return sorted(_parts(note, self._core), key=rank)


def _parts(note: Annotation, core: Collection[str] = ()) -> list[Part]:
    """What can be asked for, of all that an annotation says."""
    places = {value.replace("_", " ").strip() for name, value in note.facets.items() if name.casefold() in _PLACES}
    pieces = (piece for piece in phrases(note, core) if piece.casefold() not in SAYS_NOTHING)
    return [place_of(piece) if piece in places else part_of(piece) for piece in pieces]


def _keys(parts: Sequence[Part]) -> list[str]:
    """How pieces are counted: of colours, the first is the one that covers most."""
    colours = [part for part in parts if part.role == "colour"]
    keys = [part.said.casefold() for part in parts if part.role != "colour"]
    return [*keys, *(f"mostly {part.words}" for part in colours[:1]), *map(_some, colours[1:])]


def _some(colour: Part) -> str:
    return f"some {colour.words}"


def _shows(chosen: Sequence[Part]) -> bool:
    return any(part.role in ("thing", "act", "quality") for part in chosen)


def _is_sound(chosen: Sequence[Part], said: Sequence[Part]) -> bool:
    """No word twice; and other colours only beside the one that covers most."""
    words = [content(part.words) for part in chosen]
    if sum(map(len, words)) > len(frozenset[str]().union(*words)):
        return False
    widest = next((part for part in said if part.role == "colour"), None)
    return widest in chosen or not any(part.role == "colour" for part in chosen)


def _keyword(parts: Sequence[Part]) -> str:
    plain = [part.said for part in parts if part.role not in ("light", "colour")]
    plain += [part.words for part in parts if part.role == "light"]
    return ", ".join(filter(None, (" ".join(plain), Clause.of(parts).tones)))


def _sentence(parts: Sequence[Part]) -> str:
    clause = Clause.of(parts)
    photo = with_article(f"{clause.qualities} photo" if clause.qualities else "photo")
    shown = f" of {clause.shown}" if clause.shown else ""
    where = f" {clause.where}" if clause.where and clause.shown else f" taken {clause.where}" if clause.where else ""
    looks = "" if not clause.tones else f", {clause.tones}" if shown or where else f" that is {clause.tones}"
    return f"{photo[0].upper()}{photo[1:]}{shown}{where}{looks}."


def _question(parts: Sequence[Part]) -> str:
    clause = Clause.of(parts)
    photos = f"{clause.qualities} photos" if clause.qualities else "photos"
    claims = [
        f"show {clause.shown}{f' {clause.where}' if clause.where else ''}" if clause.shown else "",
        f"were taken {clause.where}" if clause.where and not clause.shown else "",
        f"are {clause.tones}" if clause.tones else "",
    ]
    said = " and ".join(filter(None, claims))
    return f"Which {photos} {said}?" if said else f"Which photos are {clause.qualities}?"


def _vague(parts: Sequence[Part]) -> str:
    clause = Clause.of(parts)
    shown = f"with {clause.shown}" if clause.shown else ""
    body = " ".join(filter(None, (clause.qualities, shown, clause.where)))
    return f"something {', '.join(filter(None, (body, clause.tones)))}"


_FORMS: Mapping[QueryStyle, Callable[[Sequence[Part]], str]] = {
    "keyword": _keyword,
    "sentence": _sentence,
    "question": _question,
    "vague": _vague,
}
