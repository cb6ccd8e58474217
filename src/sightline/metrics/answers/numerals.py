"""Numbers as people write them: 1,234.5 · 1 234,5 · 3½ · 1.2×10⁵ · twenty-one · 三百二十 · 1.4亿 · 百分之十二."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

_TABLE = bytes(ord(chr(byte).lower()) if byte < 128 and chr(byte).isalpha() else 32 for byte in range(256))
"""Every byte that is no ASCII letter becomes a space; letters become lower-case."""
_LONGEST = 60
_ONE = Fraction(1)
_ARABIC = re.compile(
    r"""
    (?<![A-Za-z0-9_.^])(?<![A-Za-z]-)(?<!\d[,:/])
    (?: 10\s*\^\s*(?P<bare>-?\d{1,3})
      | (?P<whole>\d{1,6})\s+(?P<over>\d{1,4}/\d{1,4})
      | (?P<fraction>\d{1,12}/\d{1,12})
      | (?P<comma>[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)? | [1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?)
      | (?P<space>[1-9]\d{0,2}(?:[ ']\d{3})+(?:[.,]\d+)?)
      | (?P<dot>[1-9]\d{0,2}(?:\.\d{3})+,\d+ | [1-9]\d{0,2}(?:\.\d{3}){2,})
      | (?P<plain>(?:0|[1-9]\d*)(?:[.,]\d+)? | \.\d+)
    )
    (?: \s*[x×*]\s*10\s*\^\s*(?P<power>-?\d{1,3}) | [eE](?P<exponent>[-+]?\d{1,3}) )?
    (?!\d | [.,:/]\d)
    (?P<half>\s+and\s+a\s+half\b)?
    (?: [\s-]*(?P<large>hundred|thousand|million|billion|trillion|dozen)s?\b )?
    """,
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)
_DIGIT = re.compile("[0-9]")
_MINUS = re.compile(r"(?:(?<![A-Za-z0-9_)\]%])-|\b(?:minus|negative)\s+|负|零下)$", re.IGNORECASE)
_SMALL_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_SMALL_WORDS.split())} | {"nil": 0, "none": 0}
_TENS = {word: 10 * tens for tens, word in enumerate(_TENS_WORDS.split(), start=2)}
_LARGE = {"dozen": 12, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_WORDS = frozenset({*_SMALL, *_TENS, *_LARGE})
_WORD = "|".join([*_SMALL, *_TENS, *_LARGE])
_ENGLISH = re.compile(
    rf"\b(?:(?:half\s+an?|an?)\s+(?=hundred|thousand|million|billion|trillion|dozen))?"
    rf"(?:{_WORD})(?:(?:\s+and\s+|\s+|-)(?:{_WORD}))*(?:\s+point(?:\s+(?:{_WORD}))+)?\b(?P<half>\s+and\s+a\s+half\b)?",
    re.IGNORECASE,
)
_FORMAL = str.maketrans("壹贰叁肆伍陆柒捌玖拾佰仟萬億〇两", "一二三四五六七八九十百千万亿零二")
_CHINESE_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")}
_CHINESE_SMALL = {"十": 10, "百": 100, "千": 1000}
_CHINESE_LARGE = {"万": 10**4, "亿": 10**8}
_NUMERAL = "零一二三四五六七八九十百千万亿"
_CHINESE_RUN = rf"(?:(?:\d[\d,]*(?:\.\d+)?)?[{_NUMERAL}]+)+(?:点[零一二三四五六七八九]+)?"
_CHINESE = re.compile(
    rf"(?P<percent>百分之)?(?:(?P<below>[{_NUMERAL}]+)分之)?(?<![A-Za-z0-9_.])"
    rf"(?!零下)(?P<main>{_CHINESE_RUN}|(?<=百分之)\d+(?:\.\d+)?)",
    re.ASCII,
)
_CHINESE_TOKEN = re.compile(rf"\d[\d,]*(?:\.\d+)?|[{_NUMERAL}]", re.ASCII)


def ascii_words(text: str) -> list[str]:
    """The runs of letters of an ASCII text, in lower case; several times as fast as a regular expression."""
    return text.encode("ascii").translate(_TABLE).decode("ascii").split()


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text: its value, how many decimals were written, the scale they are of, and where it stands."""

    value: Fraction
    decimals: int
    scale: Fraction
    start: int
    end: int
    percent: bool = False

    @property
    def step(self) -> Fraction:
        """The size of the last digit written."""
        return self.scale / Fraction(10**self.decimals)


def find_numbers(text: str) -> tuple[Number, ...]:
    """Every number of a folded text, in order; digits with a leading zero (007) and inside words (D850) are codes."""
    if text.isascii():
        found = [*_arabic(text), *(_english(text) if _names_number(text) else ())]
    else:
        text = text.translate(_FORMAL)
        found = [*_arabic(text), *_english(text), *_chinese(text)]
    found.sort(key=lambda number: (number.start, -number.end))
    kept: list[Number] = []
    for number in found:
        if not kept or number.start >= kept[-1].end:
            kept.append(_signed(number, text))
    return tuple(kept)


def _names_number(text: str) -> bool:
    """Is a word of an ASCII text a number? Far quicker than a search for all ways to put them together."""
    return not _WORDS.isdisjoint(ascii_words(text))


def _signed(number: Number, text: str) -> Number:
    sign = _MINUS.search(text, max(0, number.start - 12), number.start)
    if sign is None:
        return number
    return Number(-number.value, number.decimals, number.scale, sign.start(), number.end, number.percent)


def _arabic(text: str) -> Iterator[Number]:
    first = _DIGIT.search(text)
    if first is None:
        return
    for found in _ARABIC.finditer(text, max(0, first.start() - 1)):  # Before the first digit there may be a point.
        if found.end() - found.start() > _LONGEST:
            continue
        power = found["power"] or found["exponent"] or found["bare"]
        scale = Fraction(10) ** int(power) if power else _ONE
        if found["large"]:
            scale *= _LARGE[found["large"].lower()]
        written = _written(found)
        if written is not None:
            value, decimals = written
            if found["half"]:
                value += Fraction(1, 2)
            yield Number(value if scale is _ONE else value * scale, decimals, scale, found.start(), found.end())


def _written(found: re.Match[str]) -> tuple[Fraction, int] | None:
    """The value of the digits, and how many follow the point."""
    if found["bare"] is not None:
        return Fraction(1), 0
    quotient = found["over"] or found["fraction"]
    if quotient is not None:
        above, below = (int(part) for part in quotient.split("/"))
        return (Fraction(int(found["whole"] or 0)) + Fraction(above, below), 0) if below else None
    group = next(name for name in ("comma", "space", "dot", "plain") if found[name] is not None)
    digits = found[group]
    if digits.isdecimal():
        return Fraction(int(digits)), 0
    if group == "comma":
        digits = digits.replace(",", "")
    elif group == "dot":
        digits = digits.replace(".", "")
    digits = re.sub(r"[ ']", "", digits).replace(",", ".")
    return Fraction(digits), len(digits.partition(".")[2])


def _english(text: str) -> Iterator[Number]:
    for found in _ENGLISH.finditer(text):
        words = found[0].lower().removesuffix((found["half"] or "").lower())
        value = _english_value(re.split(r"[\s-]+", words))
        if value is not None:
            value += Fraction(1, 2) if found["half"] else 0
            decimals = len(words.partition(" point ")[2].split())
            yield Number(value, decimals, Fraction(1), found.start(), found.end())


def _english_value(words: list[str]) -> Fraction | None:
    """None for what is no number, such as "five three"."""
    if "point" in words:
        place = words.index("point")
        whole = _english_value(words[:place])
        digits = [_SMALL.get(word, 10) for word in words[place + 1 :]]
        if whole is None or max(digits) > 9:
            return None
        return whole + Fraction("0." + "".join(map(str, digits)))
    total, section, room = Fraction(0), Fraction(0), 1000
    if words[0] == "half":
        section, words = Fraction(1, 2), words[2:]
    for word in words:
        if word in ("and", "a", "an"):
            continue
        if word in _LARGE:
            section, room = (section or Fraction(1)) * _LARGE[word], 100
            if _LARGE[word] >= 1000:
                total, section, room = total + section, Fraction(0), 1000
            continue
        value = _SMALL.get(word, _TENS.get(word, 0))
        if (10 if value < 10 else 100) > room:
            return _year(words)
        section += value
        room = 10 if value >= 20 else 1
    return total + section


def _year(words: list[str]) -> Fraction | None:
    """ "nineteen sixty-nine" → 1969."""
    values = [_SMALL.get(word, _TENS.get(word, 0)) for word in words]
    century, tens, ones = (*values, 0)[:3] if len(values) in (2, 3) else (0, 0, 0)
    if not 10 <= century <= 20 or tens < 10 or ones > (9 if tens >= 20 else 0):
        return None
    return Fraction(century * 100 + tens + ones)


def _chinese(text: str) -> Iterator[Number]:
    for found in _CHINESE.finditer(text):
        if found.end() - found.start() > _LONGEST:
            continue
        whole, _, after = found["main"].partition("点")
        value, decimals, scale = _chinese_value(_CHINESE_TOKEN.findall(whole))
        if after:
            decimals = len(after)
            value += Fraction(int("".join(str(_CHINESE_DIGITS[sign]) for sign in after)), 10**decimals)
        if found["below"]:
            below = _chinese_value(list(found["below"]))[0]
            if below == 0:
                continue
            value /= below
        percent = found["percent"] is not None
        yield Number(value, decimals, scale, found.start(), found.end(), percent)


def _chinese_value(tokens: list[str]) -> tuple[Fraction, int, Fraction]:
    """Value, decimals and scale of a run such as 三百二十, 二零二一, 1亿2000万 or 3.2亿."""
    if len(tokens) > 1 and all(token in _CHINESE_DIGITS for token in tokens):
        return Fraction(int("".join(str(_CHINESE_DIGITS[token]) for token in tokens))), 0, Fraction(1)
    total, section, current, last = Fraction(0), Fraction(0), Fraction(0), 1
    for place, token in enumerate(tokens):
        if token in _CHINESE_SMALL:
            last = _CHINESE_SMALL[token]
            section, current = section + (current or 1) * last, Fraction(0)
        elif token in _CHINESE_LARGE:
            last = _CHINESE_LARGE[token]
            section, current = section + current, Fraction(0)
            if token == "亿":
                total, section = (total + section or Fraction(1)) * last, Fraction(0)
            else:
                total, section = total + (section or Fraction(1)) * last, Fraction(0)
        elif token == "零":
            current, last = Fraction(0), 10
        else:
            current = Fraction(_CHINESE_DIGITS[token] if token in _CHINESE_DIGITS else token.replace(",", ""))
            if place == len(tokens) - 1 and token in _CHINESE_DIGITS:
                current *= Fraction(max(last, 10), 10)  # 三百五 is 350; 三百零五 is 305.
    decimals = len(tokens[0].partition(".")[2]) if len(tokens) <= 2 else 0
    scale = Fraction((_CHINESE_SMALL | _CHINESE_LARGE)[tokens[1]]) if decimals and len(tokens) == 2 else Fraction(1)
    return total + section + current, decimals, scale
