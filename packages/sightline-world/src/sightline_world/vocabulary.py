"""How the world's scenes are put into words, and understood: nouns, their plurals and other names, phrases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sightline.english import article, number_word


@dataclass(frozen=True, slots=True)
class Noun:
    """A kind's plural, other names that people use for it, and where its colour is (`%s with %s icing`)."""

    plural: str
    others: tuple[str, ...] = ()
    coloured: str = "%(colour)s %(noun)s"


KIND_NOUNS: Mapping[str, Noun] = MappingProxyType(
    {
        "dog": Noun("dogs", ("hound", "puppy")),
        "cat": Noun("cats", ("kitten",)),
        "horse": Noun("horses", ("pony",)),
        "cow": Noun("cows", ("bull",)),
        "sheep": Noun("sheep", ("lamb",)),
        "rabbit": Noun("rabbits", ("bunny", "hare")),
        "duck": Noun("ducks"),
        "bird": Noun("birds", ("gull", "seagull")),
        "bicycle": Noun("bicycles", ("bike", "cycle")),
        "car": Noun("cars", ("automobile",)),
        "boat": Noun("boats", ("sailing boat", "sailboat")),
        "bus": Noun("buses", ("coach",)),
        "truck": Noun("trucks", ("lorry",)),
        "motorbike": Noun("motorbikes", ("motorcycle", "moped")),
        "hot-air balloon": Noun("hot-air balloons", ("hot air balloon",)),
        "plane": Noun("planes", ("aeroplane", "airplane", "aircraft")),
        "tree": Noun("trees", (), "%(noun)s with %(colour)s leaves"),
        "house": Noun("houses", ("cottage",)),
        "tent": Noun("tents"),
        "umbrella": Noun("umbrellas", ("parasol",)),
        "bench": Noun("benches"),
        "snowman": Noun("snowmen", ("snow man",), "%(noun)s"),
        "flag": Noun("flags", ("pennant",)),
        "kite": Noun("kites"),
        "balloon": Noun("balloons"),
        "ball": Noun("balls"),
        "bucket": Noun("buckets", ("pail",)),
        "sled": Noun("sleds", ("sledge", "toboggan")),
        "mailbox": Noun("mailboxes", ("letter box", "postbox")),
        "suitcase": Noun("suitcases", ("case",)),
        "guitar": Noun("guitars"),
        "mug": Noun("mugs", ("cup",)),
        "apple": Noun("apples"),
        "cake": Noun("cakes", ("birthday cake",), "%(noun)s with %(colour)s icing"),
        "bottle": Noun("bottles"),
        "book": Noun("books"),
        "teapot": Noun("teapots", ("tea pot",)),
        "vase": Noun("vases"),
        "pear": Noun("pears"),
        "clock": Noun("clocks", ("alarm clock",)),
        "lamp": Noun("lamps", ("table lamp",)),
        "bowl": Noun("bowls"),
        "camera": Noun("cameras"),
    }
)
PERSON_NOUN = Noun("people", ("man", "woman", "someone", "figure"), "%(noun)s in %(colour)s")
SIGN_NOUN = Noun("signs", ("board", "notice"))

PLACE_PHRASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "beach": ("on a beach", "at the beach", "by the sea"),
        "forest": ("in a forest", "in the woods", "among the trees"),
        "lake": ("by a mountain lake", "at a lake", "on a lake shore"),
        "snow": ("on a snowy hill", "in the snow", "on a snow field"),
        "garden": ("in a garden", "on a garden lawn", "in the garden"),
        "street": ("in a street", "on a city street", "in town"),
        "market": ("at a market", "between market stalls", "on a market square"),
        "harbour": ("at a harbour", "in a port", "on the quay"),
        "stadium": ("in a stadium", "on a football pitch", "at a match"),
        "kitchen": ("in a kitchen", "on a kitchen table", "in the kitchen"),
        "station": ("at a railway station", "on a train platform", "at the station"),
        "desert": ("in a desert", "among sand dunes", "in the desert"),
        "library": ("in a library", "among bookshelves", "in a reading room"),
        "playground": ("on a playground", "by the swings", "at a playground"),
    }
)
LIGHT_PHRASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "day": ("in daylight", "by day", "under a clear sky"),
        "sunset": ("at sunset", "in the evening light", "at dusk"),
        "night": ("at night", "after dark", "by night"),
        "fog": ("in fog", "in the mist", "on a foggy day"),
        "rain": ("in the rain", "on a rainy day", "during a shower"),
        "snowfall": ("in falling snow", "while it snows", "during snowfall"),
    }
)
HEADGEAR_WORDS: Mapping[str, str] = MappingProxyType({"cap": "cap", "hat": "hat", "beanie": "woolly hat"})


def noun_of(kind: str, count: int = 1, other: int | None = None) -> str:
    """The word for so many of a kind; `other` picks one of its other names, which are said in the singular only."""
    noun = PERSON_NOUN if kind == "person" else SIGN_NOUN if kind == "sign" else KIND_NOUNS[kind]
    if count != 1:
        return noun.plural
    return kind if other is None or not noun.others else noun.others[other % len(noun.others)]


def phrase(kind: str, colour: str | None = None, count: int = 1, *, size: str | None = None, word: str = "") -> str:
    """ "a red boat", "two people in blue", "a large tree with orange leaves"; `word` replaces the noun."""
    noun = PERSON_NOUN if kind == "person" else SIGN_NOUN if kind == "sign" else KIND_NOUNS[kind]
    words = word or noun_of(kind, count)
    if colour is not None:
        words = noun.coloured % {"colour": colour, "noun": words}
    if size is not None and size != "medium":
        words = f"{size} {words}"
    return f"{article(words)} {words}" if count == 1 else f"{number_word(count)} {words}"
