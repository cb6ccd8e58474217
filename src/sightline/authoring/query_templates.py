"""Queries with no language model: a few things that were said of the seed, in the form of each style.

Words of annotations become parts of an English sentence: what gets an article, what describes, what says where.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import Literal, TypeAlias

from sightline.authoring.project_files import LOOK_ALIKE
from sightline.authoring.query_checks import content, english, phrases, word_list
from sightline.config.settings import Difficulty, QueryStyle
from sightline.english import listed
from sightline.types import Annotation

Role: TypeAlias = Literal["thing", "act", "quality", "place", "moment", "light", "colour"]
"""A thing is shown, an act is done, a quality describes the picture; the last two are what can be measured."""

_WHERE: tuple[Role, ...] = ("place", "moment", "light")
_LOOKS: tuple[Role, ...] = ("light", "colour")
_TONES = re.compile(r"^(?P<colour>\w+) tones?$")
_MEASURED = {"darkness": "in the dark", "bright light": "in bright light"}
SAYS_NOTHING = frozenset({"even light"})
"""Values that most pictures have, and that nobody would ask for."""
_SINGULAR_ENDS = ("ss", "us", "is", "os")
_SOUNDS_LIKE_YOU = re.compile(r"^(?:uni(?!n)|use|usu|eu|one\b|ut)", re.IGNORECASE)
_SILENT_H = re.compile(r"^(?:hour|honest|heir)", re.IGNORECASE)
_COLOUR = r"(?:red|orange|yellow|green|blue|purple|pink|white|black|brown|grey)"
_MOSTLY = re.compile(
    rf",?(?: and are| that is)? ?\bmostly (?P<most>{_COLOUR})\b"
    rf"(?: with some (?P<some>{_COLOUR}(?:, {_COLOUR})*(?: and {_COLOUR})?)\b)?"
)
_LIGHT = re.compile(r"(?: (?:were )?taken)? ?\b(?:in the (?P<dark>dark)|in (?P<bright>bright) light)\b")
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


@dataclass(frozen=True, slots=True)
class PhrasePart:
    """A piece of an annotation: as it was said, what it does in a sentence, and the words for that."""

    said: str
    role: Role
    words: str


def part_of(said: str) -> PhrasePart:
    """What a tag, or the value of a facet, does in a sentence."""
    folded = said.casefold()
    tones = _TONES.match(folded)
    if tones is not None:
        return PhrasePart(said, "colour", tones["colour"])
    if folded in _MEASURED:
        return PhrasePart(said, "light", _MEASURED[folded])
    moments = english()["moments"]
    if folded in moments:
        return PhrasePart(said, "moment", moments[folded])
    first, last = folded.split()[0], folded.split()[-1]
    if first in word_list("prepositions"):
        return PhrasePart(said, "place", said)
    if folded in word_list("qualities"):
        return PhrasePart(said, "quality", said)
    if last.endswith("ing") and last not in word_list("nouns_in_ing") and len(last) > 4:
        return PhrasePart(said, "act", said)
    return PhrasePart(said, "thing", with_article(said))


def place_of(said: str) -> PhrasePart:
    """The value of a facet that says where a picture was taken."""
    part = part_of(said)
    if part.role != "thing":
        return part
    at = said.casefold().split()[-1] in word_list("places_at")
    return PhrasePart(said, "place", f"{'at' if at else 'in'} {part.words}")


def with_article(noun: str) -> str:
    """`a dog`, `an owl`, `people`, `soccer`, `two dogs`."""
    words = noun.casefold().split()
    if words[0] in word_list("determiners") or words[-1] in word_list("mass_nouns") or _is_plural(words[-1]):
        return noun
    vowel = noun[0].casefold() in "aeiou" and not _SOUNDS_LIKE_YOU.match(noun)
    return f"{'an' if vowel or _SILENT_H.match(noun) else 'a'} {noun}"


def tones(colours: Sequence[str]) -> str:
    """`mostly grey with some blue and white`: the first covers most of the picture."""
    more = f" with some {listed(colours[1:])}" if len(colours) > 1 else ""
    return f"mostly {colours[0]}{more}"


@dataclass(frozen=True, slots=True)
class _Clause:
    """Pieces in their places: `qualities` before the picture, `shown` in it, then where, then in which tones."""

    qualities: str
    shown: str
    where: str
    tones: str

    @classmethod
    def of(cls, parts: Iterable[PhrasePart]) -> _Clause:
        by_role: dict[Role, list[PhrasePart]] = {}
        for part in parts:
            by_role.setdefault(part.role, []).append(part)
        colours = [part.words for part in by_role.get("colour", ())]
        return cls(
            ", ".join(part.words for part in by_role.get("quality", ())),
            _shown(by_role),
            " ".join(part.words for role in _WHERE for part in by_role.get(role, ())),
            tones(colours) if colours else "",
        )


def _shown(by_role: Mapping[Role, Sequence[PhrasePart]]) -> str:
    """Things and acts; the first act is what the first being does, where there is one."""
    acts = [part.words for part in by_role.get("act", ())]
    things = [part.words for part in by_role.get("thing", ())]
    beings = [
        at
        for at, part in enumerate(by_role.get("thing", ()))
        if part.said.casefold().split()[-1] in word_list("beings")
    ]
    if acts and beings:
        things[beings[0]] = f"{things[beings[0]]} {acts.pop(0)}"
    return listed([*things, *acts])


def _is_plural(word: str) -> bool:
    return word in word_list("plurals") or (word.endswith("s") and not word.endswith(_SINGULAR_ENDS) and len(word) > 3)


@dataclass(frozen=True, slots=True)
class Measurable:
    """What a query says that can be measured, the colour that covers most first, and the query without it."""

    rest: str
    colours: tuple[str, ...] = ()
    light: str | None = None

    def __bool__(self) -> bool:
        return bool(self.colours or self.light)


def measurable(query: str) -> Measurable:
    """`mostly grey with some blue`, `in the dark`, `in bright light`, in a query of whoever wrote it."""
    colours = _MOSTLY.search(query)
    light = _LIGHT.search(query)
    rest = _LIGHT.sub("", _MOSTLY.sub("", query, count=1), count=1)
    more = re.split(r", | and ", colours["some"]) if colours is not None and colours["some"] else []
    return Measurable(
        rest.strip(),
        () if colours is None else (colours["most"], *more),
        None if light is None else light["dark"] or light["bright"],
    )


class Templates:
    """Writes queries that say what is shown, by what few pictures share, yet some."""

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

        What several pictures are said to have comes first, but not what many have: by the rest little but the seed, or
        half of the collection, could be found. Colours and light only where it takes them for that, and never alone:
        nobody asks for a picture by its colour.
        """
        vague, few = style == "vague", _SHARED_BY[difficulty]
        said = self._shared(notes, vague)[:_MOST]
        size = min(len(said), _ASKED_FOR[difficulty] - vague)
        # Fewer things at once where all combinations of so many are taken; more where there are no others.
        counts = dict.fromkeys([*range(size, 0, -1), *range(size + 1, len(said) + 1)])
        for kind in product((True, False), repeat=2):
            for count in counts:
                sound = (one for one in combinations(said, count) if _says_what_is_shown(one) and _is_sound(one, said))
                fitting = (chosen for chosen in sound if self._kind(chosen, few) == kind)
                yield from (_FORMS[style](chosen) for chosen in islice(fitting, _TRIES))

    def _kind(self, chosen: Sequence[PhrasePart], few: int) -> tuple[bool, bool]:
        """Are several pictures said to have all of it, but not many? And does it do without colours and light?"""
        having = [self._pictures.get(key, set()) for key in _keys(chosen)]
        plain = not any(part.role in _LOOKS for part in chosen)
        return few <= len(set[str].intersection(*having)) <= self._many, plain

    def _shared(self, notes: Sequence[Annotation], common_first: bool) -> list[PhrasePart]:
        """What was said of every seed; of any of them, where they share nothing."""
        each = [self._ordered(note, common_first) for note in notes]
        found = list(dict.fromkeys(part for parts in each for part in parts))
        return [part for part in found if all(part in parts for parts in each)] or found

    def _ordered(self, note: Annotation, common_first: bool) -> list[PhrasePart]:
        told = {tag.replace("_", " ").strip() for tag in note.tags}
        told |= {note.facets[name].replace("_", " ").strip() for name in self._core if name in note.facets}

        def rank(part: PhrasePart) -> tuple[bool, bool, bool, int]:
            if part.role == "colour":  # Last, and in their own order: the one that covers most is the first.
                return True, False, False, 0
            count = len(self._pictures.get(part.said.casefold(), ()))
            return False, part.said not in told, count < 2, -count if common_first else count

        return sorted(_parts(note, self._core), key=rank)


def _says_what_is_shown(chosen: Sequence[PhrasePart]) -> bool:
    return any(part.role not in _LOOKS for part in chosen)


def _parts(note: Annotation, core: Collection[str] = ()) -> list[PhrasePart]:
    """What can be asked for, of all that an annotation says."""
    places = {value.replace("_", " ").strip() for name, value in note.facets.items() if name.casefold() in _PLACES}
    pieces = (piece for piece in phrases(note, core) if piece.casefold() not in SAYS_NOTHING)
    return [place_of(piece) if piece in places else part_of(piece) for piece in pieces]


def _keys(parts: Sequence[PhrasePart]) -> list[str]:
    """How pieces are counted: of colours, the first is the one that covers most."""
    colours = [part for part in parts if part.role == "colour"]
    keys = [part.said.casefold() for part in parts if part.role != "colour"]
    return [*keys, *(f"mostly {part.words}" for part in colours[:1]), *map(_some, colours[1:])]


def _some(colour: PhrasePart) -> str:
    return f"some {colour.words}"


def _is_sound(chosen: Sequence[PhrasePart], said: Sequence[PhrasePart]) -> bool:
    """No word twice; and other colours only beside the one that covers most."""
    words = [content(part.words) for part in chosen]
    if sum(map(len, words)) > len(frozenset[str]().union(*words)):
        return False
    widest = next((part for part in said if part.role == "colour"), None)
    return widest in chosen or not any(part.role == "colour" for part in chosen)


def _keyword(parts: Sequence[PhrasePart]) -> str:
    plain = [part.said for part in parts if part.role not in ("light", "colour")]
    plain += [part.words for part in parts if part.role == "light"]
    return ", ".join(filter(None, (" ".join(plain), _Clause.of(parts).tones)))


def _sentence(parts: Sequence[PhrasePart]) -> str:
    clause = _Clause.of(parts)
    photo = with_article(f"{clause.qualities} photo" if clause.qualities else "photo")
    shown = f" of {clause.shown}" if clause.shown else ""
    where = f" {clause.where}" if clause.where and clause.shown else f" taken {clause.where}" if clause.where else ""
    looks = "" if not clause.tones else f", {clause.tones}" if shown or where else f" that is {clause.tones}"
    return f"{photo[0].upper()}{photo[1:]}{shown}{where}{looks}."


def _question(parts: Sequence[PhrasePart]) -> str:
    clause = _Clause.of(parts)
    photos = f"{clause.qualities} photos" if clause.qualities else "photos"
    claims = [
        f"show {clause.shown}{f' {clause.where}' if clause.where else ''}" if clause.shown else "",
        f"were taken {clause.where}" if clause.where and not clause.shown else "",
        f"are {clause.tones}" if clause.tones else "",
    ]
    said = " and ".join(filter(None, claims))
    return f"Which {photos} {said}?" if said else f"Which photos are {clause.qualities}?"


def _vague(parts: Sequence[PhrasePart]) -> str:
    clause = _Clause.of(parts)
    shown = f"with {clause.shown}" if clause.shown else ""
    body = " ".join(filter(None, (clause.qualities, shown, clause.where)))
    return f"something {', '.join(filter(None, (body, clause.tones)))}"


_FORMS: Mapping[QueryStyle, Callable[[Sequence[PhrasePart]], str]] = {
    "keyword": _keyword,
    "sentence": _sentence,
    "question": _question,
    "vague": _vague,
}
