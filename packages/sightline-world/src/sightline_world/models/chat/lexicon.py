"""English words → what they mean in the built-in world; from its own words, and from what people say instead."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol, TypeAlias

from sightline.english import number_word
from sightline_world.scene import HAIR, SCENE_COLOURS, SCENE_KINDS, SCENE_LIGHTS, SCENE_PLACES
from sightline_world.vocabulary import (
    HEADGEAR_WORDS,
    KIND_NOUNS,
    LIGHT_PHRASES,
    PERSON_NOUN,
    PLACE_PHRASES,
    SIGN_NOUN,
    Noun,
)

Sort: TypeAlias = Literal[
    "kind", "colour", "size", "place", "light", "number", "bound", "hair", "hair noun", "headgear", "coat", "part",
    "predicate", "region", "not", "and", "or", "article", "link", "break", "same", "says", "words", "stop", "unknown",
]  # fmt: skip
PERSON, SIGN = "person", "sign"
INDOORS = ("kitchen", "library")
ANIMALS, VEHICLES = SCENE_KINDS[:8], SCENE_KINDS[8:16]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a word or phrase stands for: any one of `values`."""

    sort: Sort
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Term:
    """Words of a text and their meaning; `at` is the place of the first of them among the text's tokens."""

    sort: Sort
    values: tuple[str, ...]
    text: str
    at: int = 0


_GROUPS: Mapping[str, tuple[str, ...]] = {
    "animal animals creature creatures wildlife beast": ANIMALS,
    "vehicle vehicles transport": VEHICLES,
    "pet pets": ("dog", "cat", "rabbit"),
    "farm animal|farm animals|livestock|cattle": ("horse", "cow", "sheep", "duck"),
    "fruit fruits": ("apple", "pear"),
    "food": ("apple", "pear", "cake"),
    "building buildings": ("house",),
    "toy toys": ("ball", "kite", "balloon", "sled"),
    "object objects thing things item items something anything": SCENE_KINDS,
}
_PEOPLE = """men women boy boys girl girls child children kid kids guy guys lady ladies gentleman fellow friend friends
human humans somebody anyone anybody adult adults player players stranger strangers persons family crowd passer figures
rider walker owner soul souls whoever whomever individual individuals folk"""
_KINDS: Mapping[str, str] = {
    "doggy doggie": "dog",
    "kitty": "cat",
    "foal mare stallion": "horse",
    "calf": "cow",
    "ewe lambs": "sheep",
    "drake duckling": "duck",
    "seabird pigeon": "bird",
    "pushbike|push bike": "bicycle",
    "sedan auto autos": "car",
    "yacht dinghy vessel": "boat",
    "double decker|double deckers": "bus",
    "jet airliner": "plane",
    "home|hut": "house",
    "brolly|sunshade": "umbrella",
    "post box|mail box|letterbox": "mailbox",
    "luggage": "suitcase",
    "coffee cup|tea cup|teacup|coffee mug": "mug",
    "novel": "book",
    "flower vase|flower vases": "vase",
    "football|soccer ball|beach ball": "ball",
    "park bench|park benches": "bench",
    "birthday cakes|gateau": "cake",
}
_COLOURS: Mapping[str, str] = {
    "gray silver silvery ash": "grey",
    "crimson scarlet reddish ruby": "red",
    "violet lilac purplish mauve": "purple",
    "navy|azure|turquoise|bluish|cyan|sky blue|light blue|dark blue": "blue",
    "emerald|lime|greenish|dark green|light green": "green",
    "golden gold yellowish lemon": "yellow",
    "amber": "orange",
    "magenta rose pinkish": "pink",
    "chestnut tan brownish beige": "brown",
    "ivory cream whitish": "white",
    "blackish": "black",
}
_PLACES: Mapping[str, tuple[str, ...]] = {
    "seaside seashore shore coast sea ocean sands sandy": ("beach",),
    "woods woodland wood": ("forest",),
    "lakeside|lakeshore|mountain lake|lake shore": ("lake",),
    "ski slope|snowfield|snow field|snowy hill|snowy slope|hillside|the snow": ("snow",),
    "lawn|backyard|yard|back yard|gardens": ("garden",),
    "streets|road|avenue|lane|pavement|sidewalk|city street|town centre|in the city|downtown": ("street",),
    "bazaar|stalls|stall|market day|market square|market stalls|marketplace|market place|fair|markets": ("market",),
    "harbor port quay dock docks marina jetty wharf waterfront": ("harbour",),
    "arena|pitch|football pitch|football ground|sports ground|football match|the match|a match|match|matches|game": (
        "stadium",
    ),
    "kitchens|kitchen table|cooking": ("kitchen",),
    "platform|railway|railway station|train station|train platform|railway platform|stations": ("station",),
    "dunes|sand dunes|dune|deserts": ("desert",),
    "bookshelves|bookshelf|reading room|libraries": ("library",),
    "swings|swing|slide|playgrounds|play area|play park": ("playground",),
    "indoors indoor interior inside": INDOORS,
    "outdoors|outdoor|outside|exterior|open air": tuple(p for p in SCENE_PLACES if p not in INDOORS),
    "waterside|by the water|near water|near the water": ("beach", "lake", "harbour"),
    "countryside|nature|natural|rural|in nature|wilderness": ("beach", "forest", "lake", "snow", "desert"),
    "urban": ("street", "market", "harbour", "stadium", "station"),
}
_LIGHTS: Mapping[str, tuple[str, ...]] = {
    "daylight|daytime|sunny|sunshine|in the day|by day|during the day|clear sky|blue sky|bright day|clear|in the sun|"
    "broad daylight|bright daylight|full daylight|fine weather|fair weather|good weather|bright weather|sunlight|"
    "sunlit|bright sun|clear weather|cloudless|clear skies|blue skies|bright light|full light|bright sunshine|"
    "bright conditions|a bright sky|under a clear sky|midday|noon": ("day",),
    "sunset|dusk|twilight|evening|sundown|golden hour|evening light|setting sun|sunrise|dawn|daybreak|first light|"
    "low sun|sun low|the sun was low|sun is low|rising sun|golden light|red sky|glowing sky|orange sky|gloaming|"
    "dawn or dusk|dusk or dawn|sunset or sunrise|sunrise or sunset|rising or setting sun|setting or rising sun|"
    "nightfall or daybreak|sun near the horizon|sun on the horizon": ("sunset",),
    "night|nighttime|midnight|dark|darkness|after dark|at night|night time|nightfall|after nightfall|moonlight|"
    "moonlit|starlight|starlit|under the stars|by night|in the dark|dark sky|night sky|dead of night": ("night",),
    "fog|foggy|mist|misty|haze|hazy|murk|murky|thick fog|low cloud|poor visibility": ("fog",),
    "rain|rainy|raining|rained|drizzle|shower|showers|wet|rainfall|downpour|pouring|raindrops|wet weather|pouring rain|"
    "drizzling|drizzly|it poured|rainy weather": ("rain",),
    "snowing|snowfall|snowflakes|blizzard|falling snow|snow falling|it snows|it snowed|snow falls|snow fell|flakes|"
    "snowy day|snowy weather|snow shower|snowstorm|flurry|flurries|snow was falling|snow is falling|snow came down|"
    "snow coming down": ("snowfall",),
    "bad weather|awful weather": ("fog", "rain", "snowfall"),
}
_PREDICATES: Mapping[str, tuple[str, str]] = {
    "left of|to the left of|on the left of|left from|on the left side of|to the left side of": ("left of", ""),
    "right of|to the right of|on the right of|on the right side of|to the right side of": ("left of", "inverted"),
    "behind|in back of|at the back of|hidden by|covered by|partly hidden by": ("behind", ""),
    "in front of|ahead of|hiding|covering|partly hiding": ("behind", "inverted"),
    "on|on top of|upon|sitting on|lying on|standing on|resting on|placed on|sits on|lies on|stands on|atop|lay on|"
    "perched on|left on|put on": ("on", ""),
    "under|underneath|beneath|below|supporting": ("on", "inverted"),
    "holding|holds|held|hold|carrying|carries|carried|carry|gripping|clutching|flying": ("holding", ""),
    "held by|carried by|in the hand of|in the hands of|in hands of|flown by": ("holding", "inverted"),
}
_BOUNDS: Mapping[str, str] = {
    "at least|or more|no fewer than|no less than|not fewer than|not less than|a minimum of|minimum of|upwards of|"
    "or above|and more|and up|and upwards|or even more|if not more": ">=",
    "more than|over": ">",
    "at most|no more than|up to": "<=",
    "fewer than|less than": "<",
    "exactly|only|just": "=",
}
_NUMBERS: Mapping[str, str] = {
    "a couple of|couple of|a pair of|pair of|both|a couple|two of": "2",
    "single|lone|a single|a lone|only one|just one|exactly one": "1",
    "half a dozen|six of": "6",
    "a dozen|one dozen": "12",
    "three of|three of the": "3",
}
_LOOSE: Mapping[str, str] = {"several|many|lots of|a lot of|a group of|a number of": "3", "a few|few": "2"}
_FUNCTION: Mapping[Sort, str] = {
    "not": "no|not|without|lacking|never|none|nobody|neither|nor|no one|free of|instead of|there is no|isnt|arent|"
    "deserted|unpeopled|devoid of people|empty of people|people free|devoid of|empty of",
    "and": "and|&|plus|and also|as well as|together with|along with",
    "or": "or|and/or|either",
    "article": "a an the this that these those its his her their any some",
    "link": "in|with|wearing|wears|wore|dressed|having|has|have|is|are|was|were|coloured|colored|painted|of|who|whose|"
    "being|at|by|near|beside|alongside|next to|close to|beside of|dressed in|clothed in|clad in|which is|that is|"
    "that are|which are|that was|which was|had|and wearing|and has|and is",
    "break": ". ; : but while though although except which when where then if because",
    "same": "same|that very|again",
    "hair noun": "hair haired hairs locks",
    "coat": "coat coats jacket jackets clothes clothing shirt dress sweater jumper outfit anorak",
    "part": "leaves leaf foliage icing frosting crown topping",
}
_HAIR: Mapping[str, tuple[str, ...]] = {
    "blond|blonde|blondes|fair|fair haired|blond haired|blonde haired|blond hair|blonde hair|fair hair": ("blond",),
    "redhead|redheaded|ginger|ginger haired|red headed": ("red",),
    "brunette": ("brown",),
    "dark haired|dark hair": ("black", "brown"),
    "white haired|white hair|gray haired|grey haired|gray hair|grey hair": ("grey",),
    "brown haired|brown hair": ("brown",),
    "black haired|black hair": ("black",),
    "red haired|red hair": ("red",),
}
_HEADGEAR: Mapping[str, tuple[str, ...]] = {
    "hats": ("hat",),
    "caps|baseball cap": ("cap",),
    "beanies|wool hat|woollen hat|knitted hat|bobble hat|wooly hat|woolly hats": ("beanie",),
    "headgear|headwear|something on the head|head covering": ("cap", "hat", "beanie"),
    "bareheaded|hatless|bare headed|bare head|nothing on the head": ("none",),
}
_SAYS = """says|say|said|saying|reads|reading|marked|labelled|labeled|spells|lettered|with the word|with the words|
the word|the words|words|word|that reads|written|inscribed|with the text|the text|with the name|showing the name|
with the inscription|called|named"""
_SIZES = {"small tiny little": "small", "large big huge giant": "large", "medium|medium sized|mid sized": "medium"}
_REGIONS = {
    "on the left|to the left|at the left|left half|left side|on the left side|on the left hand side|in the left half|"
    "in the left part": "left",
    "on the right|to the right|at the right|right half|right side|on the right side|on the right hand side|"
    "in the right half|in the right part": "right",
    "at the top|upper half|top half|in the upper half|in the top half": "top",
    "at the bottom|lower half|bottom half|in the lower half|in the bottom half": "bottom",
}
_STOP = """i we you he she it they me us him them my our your mine ours one ones do does did done can could would will
should shall may might must be been am to from for as than so too very also there here what who whom how why many much
picture pictures photo photos photograph photographs image images shot shots snapshot snap scene scenes view frame
show shows shown showing find found looking look looked see seen saw sees visible give get want wanted need please
taken take took taking shot captured containing contains contain features featuring depicts depicting include includes
including came come across somewhere some where also only just every each all more most less least other another
search query relevant match fits fit matches standing walking running sitting lying waving cheering parked stand stands
sits sit lies lie going go goes went up down out off into onto about around over between among along against background
foreground together whole full part piece edge middle centre center time times day days now ever still yet again
weather light sky colour color colours colors colored kind kinds type sort number count empty least exactly let tell
ask asked question answer yes if not case hand hands one's own new old nice beautiful pretty lovely s t re ve ll m d
remember memory memories lot bit first last later earlier whom met bought places once ago town city village back
front side left right top bottom"""
_QUOTED = r'"[^"\n]{1,60}"|“[^”\n]{1,60}”|«[^»\n]{1,60}»|(?<!\w)\'[^\'\n]{2,40}\'(?!\w)|‘[^’\n]{1,60}’'
_TOKEN = re.compile(rf"{_QUOTED}|\w+|[.,;:!?&/]")
_SHOUTS = "OK TV GPS ID IDS JSON YES NO URL PDF EXIF UTC AM PM AND OR NOT THE USA UK US"
_ACRONYMS = frozenset(_SHOUTS.split())


def plain(text: str) -> str:
    """Lower case without accents, contractions opened, hyphens and underscores as spaces."""
    text = unicodedata.normalize("NFKD", text.replace("’", "'")).encode("ascii", "ignore").decode()
    text = re.sub(r"n't\b", " not", text)
    text = re.sub(r"'s\b|'(?=\w)", " ", text)
    return text.lower()


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a text as it was written, and in lower case; `quoted` holds what stood in quotation marks."""

    text: str
    word: str
    quoted: bool = False

    @property
    def is_shouted(self) -> bool:
        """In capitals, as words on signs are."""
        return len(self.text) > 1 and self.text.isalpha() and self.text.isupper() and self.text not in _ACRONYMS

    @property
    def is_capital(self) -> bool:
        return len(self.text) > 2 and self.text[0].isupper() and self.text[1:].islower()


def tokens(text: str) -> list[Token]:
    """Words, stops and quoted pieces of a text."""
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"n['’]t\b", " not", text)
    text = re.sub(r"['’]s\b", " ", text)
    text = re.sub(r"(?<=\w)[-‐-–_](?=\w)", " ", text)
    found = []
    for match in _TOKEN.finditer(text):
        piece = match[0]
        if piece[0] in "\"“«'‘":
            found.append(Token(piece[1:-1].strip(), plain(piece[1:-1]).strip(), quoted=True))
        else:
            found.append(Token(piece, plain(piece)))
    return found


@cache
def lexicon() -> Mapping[tuple[str, ...], Meaning]:
    """Phrases, as tuples of words, and their meanings; earlier entries win over later ones."""
    table: dict[tuple[str, ...], Meaning] = {}

    def add(phrases: Iterable[str], sort: Sort, *values: str) -> None:
        for phrase in phrases:
            words = tuple(re.findall(r"[a-z]+|\d+|[.;:&/]", plain(phrase).replace("-", " ")))
            if words:
                table.setdefault(words, Meaning(sort, values))

    for kind, noun in KIND_NOUNS.items():
        add(_names(kind, noun), "kind", kind)
    add([*_names(PERSON, PERSON_NOUN), *_split(_PEOPLE)], "kind", PERSON)
    add(_names(SIGN, SIGN_NOUN), "kind", SIGN)
    add(["billboard", "signpost", "banner", "placard", "signpost", "signboard", "plaque"], "kind", SIGN)
    for words, kind in _KINDS.items():
        add(_split(words), "kind", kind)
    for words, kinds in _GROUPS.items():
        add(_split(words), "kind", *kinds)
    _add_attributes(add)
    _add_whole(add)
    _add_frames(add)
    return table


class _Add(Protocol):
    def __call__(self, phrases: Iterable[str], sort: Sort, *values: str) -> None: ...


def _add_attributes(add: _Add) -> None:
    for colour in SCENE_COLOURS:
        add([colour, f"{colour} coloured", f"{colour} colored"], "colour", colour)
    for words, colour in _COLOURS.items():
        add(_split(words), "colour", colour)
    for words, size in _SIZES.items():
        add(_split(words), "size", size)
    for words, hair in _HAIR.items():
        add(_split(words), "hair", *hair)
    for gear, word in HEADGEAR_WORDS.items():
        add([gear, word, f"{word}s"], "headgear", gear)
    for words, gears in _HEADGEAR.items():
        add(_split(words), "headgear", *gears)


def _add_whole(add: _Add) -> None:
    for place in SCENE_PLACES:
        add(PLACE_PHRASES[place], "place", place)
    for light in SCENE_LIGHTS:
        add(LIGHT_PHRASES[light], "light", light)
    for words, lights in _LIGHTS.items():
        add(_split(words), "light", *lights)
    for place in SCENE_PLACES:
        add([place], "place", place)
    add(["snowy"], "place", "snow")
    for words, places in _PLACES.items():
        add(_split(words), "place", *places)


def _add_frames(add: _Add) -> None:
    for words, predicate in _PREDICATES.items():
        add(_split(words), "predicate", *predicate)
    for words, region in _REGIONS.items():
        add(_split(words), "region", region)
    for words, bound in _BOUNDS.items():
        add(_split(words), "bound", bound)
    for words, number in _NUMBERS.items():
        add(_split(words), "number", number)
    for words, number in _LOOSE.items():
        add(_split(words), "number", number, ">=")
    for count in range(1, 13):
        add([number_word(count)], "number", str(count))
    add(_split(_SAYS), "says")
    for sort, words in _FUNCTION.items():
        add(_split(words), sort)
    add(["in that case", "in this case", "in case", "one can", "one sees", "no matter", *_STOP.split()], "stop")


def _split(words: str) -> list[str]:
    """Phrases between bars; where there is no bar, single words."""
    return words.split("|") if "|" in words else words.split()


def _names(kind: str, noun: Noun) -> list[str]:
    return [kind, noun.plural, *noun.others, *map(_plural, noun.others)]


def _plural(noun: str) -> str:
    if noun.endswith("man"):
        return f"{noun[:-2]}en"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


HAIR_OF_COLOUR: Mapping[str, tuple[str, ...]] = {colour: (colour,) for colour in SCENE_COLOURS if colour in HAIR} | {
    "yellow": ("blond",),
    "orange": ("red",),
    "white": ("grey",),
}
"""What hair somebody means who says a colour."""
