"""Other spellings of the same answer: clock times, numerals and ordinals, scripts, abbreviations.

Only what can't mean something else is taken as the same. Places inside places are not: "Paris, Texas" is not Paris, and
no rule knows that "Paris, France" is; give an alias, or let a judge decide.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from sightline.metrics.answers.normalization import fold, normalize, polarity

_ONES = "first second third fourth fifth sixth seventh eighth ninth"
_TEENS = "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
_NUMBERS = {word: place for place, word in enumerate(_ONES.split(), 1)}
_NUMBERS |= dict(zip(_TEENS.split(), range(10, 20), strict=True))
_NUMBERS |= {"twentieth": 20, "thirtieth": 30}
_TEN_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * place for place, word in enumerate(_TEN_WORDS.split(), 2)}
_SMALL_WORDS = "one two three four five six seven eight nine ten"
_SMALL = {word: place for place, word in enumerate(_SMALL_WORDS.split(), 1)}
_SMALL |= {"eleven": 11, "twelve": 12, "a quarter": 15, "quarter": 15, "half": 30, "twenty": 20, "twenty-five": 25}
_PARTS = {"thirds": 3, "quarters": 4, "fourths": 4, "fifths": 5, "sixths": 6, "eighths": 8, "tenths": 10, "half": 2}
_ORDINAL = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})[-\s](?P<one>{'|'.join(_ONES.split())})"
    rf"|(?P<plain>{'|'.join(word for word in _NUMBERS if word != 'second')}))\b",
    re.IGNORECASE,
)
_SHARE = re.compile(rf"\b(?P<count>{'|'.join(_SMALL)})[-\s](?P<part>{'|'.join(_PARTS)})\b", re.IGNORECASE)
_ROMAN = re.compile(r"\b(?=[IVX]{2,})X{0,3}(?:IX|IV|V?I{0,3})\b")
_ABBREVIATIONS = {
    "mt": "mount", "ave": "avenue", "blvd": "boulevard", "rd": "road", "dr": "doctor", "vs": "versus", "jr": "junior",
    "co": "company", "corp": "corporation", "ltd": "limited", "inc": "incorporated",
}  # fmt: skip
_INITIALS = {
    "us": "united states", "usa": "united states", "united states of america": "united states", "uk": "united kingdom",
    "un": "united nations", "eu": "european union", "uae": "united arab emirates", "nyc": "new york city",
    "who": "world health organization", "wto": "world trade organization",
    "ussr": "soviet union", "bbc": "british broadcasting corporation", "prc": "people s republic of china",
}  # fmt: skip
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i"})
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
_CYRILLIC_SOUNDS = "a b v g d e e zh z i y k l m n o p r s t u f kh ts ch sh shch  y  e yu ya"
_CYRILLIC = dict(zip("абвгдеёжзийклмнопрстуфхцчшщъыьэюя", _CYRILLIC_SOUNDS.split(" "), strict=True))
_GREEK_SOUNDS = "a v g d e z i th i k l m n x o p r s s t y f ch ps o"
_GREEK = dict(zip("αβγδεζηθικλμνξοπρσςτυφχψω", _GREEK_SOUNDS.split(), strict=True))
_TRANSLITERATED = str.maketrans({**_CYRILLIC, **_GREEK})
_CLOCK = re.compile(
    r"(?:at\s+)?(?P<hour>\d{1,2})(?:[:h](?P<minute>\d{2})|\.(?P<dotted>\d{2})(?=\s*[ap]\.?m))?\s*(?P<half>[ap]\.?m\.?)?(?:\s*(?:o'clock|uhr))?",
    re.IGNORECASE,
)
_CLOCK_WORDS = re.compile(r"(?P<count>[\w-]+(?:\s+quarter)?)(?:\s+minutes)?\s+(?P<way>past|to)\s+(?P<hour>\w+)", re.I)
_CLOCK_ZH = re.compile(
    r"(?P<half>上午|下午|晚上|早上|凌晨)?(?P<hour>\d{1,2})[点點时時](?:(?P<minute>\d{1,2})分?|(?P<thirty>半))?"
)
_HOURS_ZH = "零 一 二 三 四 五 六 七 八 九 十 十一 十二".split()  # noqa: SIM905
_HOUR_ZH = re.compile("十[一二]?(?=[点點时時])|[零一二三四五六七八九](?=[点點时時])")
_RULER = re.compile(r"(?<=[a-z] )the (?:(\d+)(?:st|nd|rd|th)|second)[ .]*$", re.IGNORECASE)
"""Louis the 14th, Elizabeth the Second; as a Roman numeral they have no article."""
_NAMED = {"noon": 720, "midday": 720, "midnight": 0}
_DAY, _HALF = 1440, 720


def same_spelling(first: str, second: str) -> bool:
    """Whether two texts spell the same answer, or tell the same time of day; a bare "3:45" is of either half."""
    if polarity(first) is not None:
        return False
    one, other = clock(first), clock(second)
    if one and other:
        return bool(one & other)
    return bool(_spellings(first) & _spellings(second))


def with_digits(text: str) -> str:
    """The text with ordinals ("twenty-first"), shares ("two thirds"), Roman numerals and foreign digits in digits."""
    if not text.isascii():
        text = "".join(str(unicodedata.digit(sign)) if sign.isdecimal() else sign for sign in fold(text))
    text = _SHARE.sub(lambda found: f"{_SMALL[found['count'].lower()]}/{_PARTS[found['part'].lower()]}", text)
    text = _ORDINAL.sub(lambda found: _suffixed(_ordinal(found)), text)
    return _ROMAN.sub(lambda found: str(_roman(found[0])), text)


def clock(text: str) -> frozenset[int]:
    """The minutes after midnight that a time of day may mean; none where the text is no time of day."""
    said = fold(text).strip(" .").lower()
    if said in _NAMED:
        return frozenset({_NAMED[said]})
    if found := _CLOCK_WORDS.fullmatch(said):
        count, hour = _SMALL.get(found["count"]), _SMALL.get(found["hour"])
        if count is None or hour is None:
            return frozenset()
        return _halves(60 * hour + (count if found["way"] == "past" else -count))
    found = _CLOCK.fullmatch(said)
    if found and (found["minute"] or found["half"]):
        return _time(int(found["hour"]), int(found["minute"] or found["dotted"] or 0), (found["half"] or "")[:1])
    if found := _CLOCK_ZH.fullmatch(_HOUR_ZH.sub(lambda hour: str(_HOURS_ZH.index(hour[0])), said)):
        half = {"下午": "p", "晚上": "p", "上午": "a", "早上": "a", "凌晨": "a"}.get(found["half"] or "", "")
        return _time(int(found["hour"]), 30 if found["thirty"] else int(found["minute"] or 0), half)
    return frozenset()


def _time(hour: int, minute: int, half: str) -> frozenset[int]:
    if hour > 24 or minute > 59 or (half and not 1 <= hour <= 12):
        return frozenset()
    if half:
        return frozenset({60 * (hour % 12) + minute + (_HALF if half == "p" else 0)})
    return _halves(60 * hour + minute) if 1 <= hour <= 12 else frozenset({(60 * hour + minute) % _DAY})


def _halves(minutes: int) -> frozenset[int]:
    return frozenset({minutes % _DAY, (minutes + _HALF) % _DAY})


@lru_cache(maxsize=4096)
def _spellings(text: str) -> frozenset[str]:
    forms = {_written_out(_RULER.sub(lambda found: found[1] or "2", with_digits(text)))}
    if not text.isascii():
        lower = fold(text).lower()
        forms |= {_written_out(lower.translate(table)) for table in (_LETTERS, _UMLAUTS)}
        letters = unicodedata.normalize("NFD", lower.replace("й", "y"))
        forms.add(_written_out("".join(s for s in letters if not unicodedata.combining(s)).translate(_TRANSLITERATED)))
    return frozenset(filter(None, forms))


def _written_out(text: str) -> str:
    """The normal form with abbreviations written out; "St" is a saint before a name and a street behind one."""
    words = normalize(text).split()
    for place, word in enumerate(words):
        if word == "st" and len(words) > 1:
            words[place] = "street" if place == len(words) - 1 else "saint"
        elif word == "no" and words[place + 1 : place + 2] and words[place + 1].isdigit():
            words[place] = "number"
        elif len(words) > 1 or word == "vs":
            words[place] = _ABBREVIATIONS.get(word, word)
    whole = " ".join(words)
    capitals = text.replace(".", "").strip().isupper() or len(words) > 1
    return _INITIALS.get(whole, whole) if capitals else whole


def _ordinal(found: re.Match[str]) -> int:
    if found["plain"]:
        return _NUMBERS[found["plain"].lower()]
    return _TENS[found["tens"].lower()] + _NUMBERS[found["one"].lower()]


def _suffixed(number: int) -> str:
    ends = {1: "st", 2: "nd", 3: "rd"} if number % 100 not in (11, 12, 13) else {}
    return f"{number}{ends.get(number % 10, 'th')}"


def _roman(numeral: str) -> int:
    values = [{"I": 1, "V": 5, "X": 10}[sign] for sign in numeral]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))
