"""Words of annotations as parts of an English sentence: what gets an article, what describes, what says where."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["thing", "act", "quality", "place", "moment", "light", "colour"]
"""A thing is shown, an act is done, a quality describes the picture; the last two are what can be measured."""

_WHERE: tuple[Role, ...] = ("place", "moment", "light")
_TONES = re.compile(r"^(?P<colour>\w+) tones?$")
_MEASURED = {"darkness": "in the dark", "bright light": "in bright light"}
SAYS_NOTHING = frozenset({"even light"})
"""Values that most pictures have, and that nobody would ask for."""
_MOMENTS = {
    **{word: f"at {word}" for word in ("night", "dawn", "dusk", "sunset", "sunrise", "noon")},
    **{word: f"in the {word}" for word in ("morning", "afternoon", "evening")},
    **{word: f"in {word}" for word in ("daylight", "fog", "mist")},
    **{word: word for word in ("indoors", "outdoors", "underwater")},
    **{"day": "by day", "rain": "in the rain", "snowfall": "during snowfall"},
}
_PREPOSITION = "above across along among at behind below beside between by in inside near on outside over under with"
_QUALITY = """aerial autumnal black blue blurred blurry bright brown calm clear cloudy colorful colourful crowded dark
dim dry empty festive foggy gold golden gray green grey indoor misty modern monochrome natural old orange outdoor
overcast pink plain purple rainy red rural rustic scenic sharp silver snowy stormy sunny urban vintage violet wet white
wild windy wintry yellow"""
_MASS = """baseball basketball clothing cricket equipment fire fog food football foliage fruit furniture golf grass
gravel hail hair haze hockey ice jewellery jewelry lightning mist mud music nature nobody people rain rugby sand smoke
snow soccer somebody someone sport sunlight sunshine surf tennis text traffic vegetation volleyball water weather
wildlife wood"""
_NOUN_IN_ING = """awning building ceiling crossing drawing earring evening king landing lightning meeting morning
painting parking pudding railing ring sibling spring string swing thing wedding wing"""
_BEING = "baby bird boy cat child crowd dog girl horse man people person player rider woman men women children"
_DETERMINER = "a an the some two three four five six several many no his her my our their"
_AT_WORD = "airport beach harbor harbour lake market playground pool stadium station"
_PLURAL = "children men women mice geese feet teeth sheep fish deer"
_PREPOSITIONS, _QUALITIES, _MASSES, _NOUNS_IN_ING, _BEINGS, _DETERMINERS, _AT, _PLURALS = (
    frozenset(words.split())
    for words in (_PREPOSITION, _QUALITY, _MASS, _NOUN_IN_ING, _BEING, _DETERMINER, _AT_WORD, _PLURAL)
)
_SINGULAR_ENDS = ("ss", "us", "is", "os")
_SOUNDS_LIKE_YOU = re.compile(r"^(?:uni(?!n)|use|usu|eu|one\b|ut)", re.IGNORECASE)
_SILENT_H = re.compile(r"^(?:hour|honest|heir)", re.IGNORECASE)
_COLOUR = r"(?:red|orange|yellow|green|blue|purple|pink|white|black|brown|grey)"
_MOSTLY = re.compile(
    rf",?(?: and are| that is)? ?\bmostly (?P<most>{_COLOUR})\b"
    rf"(?: with some (?P<some>{_COLOUR}(?:, {_COLOUR})*(?: and {_COLOUR})?)\b)?"
)
_LIGHT = re.compile(r"(?: (?:were )?taken)? ?\b(?:in the (?P<dark>dark)|in (?P<bright>bright) light)\b")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of an annotation: as it was said, what it does in a sentence, and the words for that."""

    said: str
    role: Role
    words: str


def part_of(said: str) -> Part:
    """What a tag, or the value of a facet, does in a sentence."""
    folded = said.casefold()
    tones = _TONES.match(folded)
    if tones is not None:
        return Part(said, "colour", tones["colour"])
    if folded in _MEASURED:
        return Part(said, "light", _MEASURED[folded])
    if folded in _MOMENTS:
        return Part(said, "moment", _MOMENTS[folded])
    first, last = folded.split()[0], folded.split()[-1]
    if first in _PREPOSITIONS:
        return Part(said, "place", said)
    if folded in _QUALITIES:
        return Part(said, "quality", said)
    if last.endswith("ing") and last not in _NOUNS_IN_ING and len(last) > 4:
        return Part(said, "act", said)
    return Part(said, "thing", with_article(said))


def place_of(said: str) -> Part:
    """The value of a facet that says where a picture was taken."""
    part = part_of(said)
    if part.role != "thing":
        return part
    at = said.casefold().split()[-1] in _AT
    return Part(said, "place", f"{'at' if at else 'in'} {part.words}")


def with_article(noun: str) -> str:
    """`a dog`, `an owl`, `people`, `soccer`, `two dogs`."""
    words = noun.casefold().split()
    if words[0] in _DETERMINERS or words[-1] in _MASSES or _is_plural(words[-1]):
        return noun
    vowel = noun[0].casefold() in "aeiou" and not _SOUNDS_LIKE_YOU.match(noun)
    return f"{'an' if vowel or _SILENT_H.match(noun) else 'a'} {noun}"


def listed(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def tones(colours: Sequence[str]) -> str:
    """`mostly grey with some blue and white`: the first covers most of the picture."""
    more = f" with some {listed(colours[1:])}" if len(colours) > 1 else ""
    return f"mostly {colours[0]}{more}"


@dataclass(frozen=True, slots=True)
class Clause:
    """Pieces in their places: `qualities` before the picture, `shown` in it, then where, then in which tones."""

    qualities: str
    shown: str
    where: str
    tones: str

    @classmethod
    def of(cls, parts: Iterable[Part]) -> Clause:
        by_role: dict[Role, list[Part]] = {}
        for part in parts:
            by_role.setdefault(part.role, []).append(part)
        colours = [part.words for part in by_role.get("colour", ())]
        return cls(
            ", ".join(part.words for part in by_role.get("quality", ())),
            _shown(by_role),
            " ".join(part.words for role in _WHERE for part in by_role.get(role, ())),
            tones(colours) if colours else "",
        )


def _shown(by_role: Mapping[Role, Sequence[Part]]) -> str:
    """Things and acts; the first act is what the first being does, where there is one."""
    acts = [part.words for part in by_role.get("act", ())]
    things = [part.words for part in by_role.get("thing", ())]
    beings = [at for at, part in enumerate(by_role.get("thing", ())) if part.said.casefold().split()[-1] in _BEINGS]
    if acts and beings:
        things[beings[0]] = f"{things[beings[0]]} {acts.pop(0)}"
    together = [*things, *acts]
    return listed(together) if together else ""


def _is_plural(word: str) -> bool:
    return word in _PLURALS or (word.endswith("s") and not word.endswith(_SINGULAR_ENDS) and len(word) > 3)


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
