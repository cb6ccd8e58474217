"""Reading option keys inside a text: "(B)", "option b", "A or C", "not A but C"."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from sightline.metrics.choices.languages import COPULA, FLAGS, OPTION, OR
from sightline.metrics.choices.options import KeyedOption

_KEYCAP = re.compile("([0-9])\ufe0f?\u20e3")
_BADGES = {chr(first + place): chr(ord("A") + place) for first in (0x1F150, 0x1F170, 0x1F1E6) for place in range(26)}
_LOOK_ALIKES = dict(zip("АВСЕНКМОРТХасеорхΑΒΕΗΙΚΜΝΟΡΤΧΖ", "ABCEHKMOPTXaceopxABEHIKMNOPTXZ", strict=True))
_FOREIGN_WORD = re.compile("[Ѐ-ӿͰ-Ͽ]{2,}")
_ANSWER_WORDS = re.compile("ответ|вариант|правильный|это", re.IGNORECASE)
_ALONE = re.compile(rf"(?<!\w)[{''.join(_LOOK_ALIKES)}](?!\w)")

_LETTER = r"0-9A-Za-z_\u00c0-\u024f\u0370-\u04ff"  # Not Chinese: 选B因为 has no spaces.
_LEAD = rf"""(?:
    [\s"'“”‘’(\[{{<:：\-–—→➡]
    | \b(?:option|choice|letter|answer|number|picture|image|most\s+likely|likely|probably|clearly|definitely|simply
          |therefore|thus|then|indeed|obviously|either|both|between|the|{OPTION})\b(?!\s*$)
    | 选项 | 选择 | 选 | 图
    )*"""
_CLOSE = r"""[\s"'“”‘’)\]}>]*"""
_VERB = r"""(?:is|are|was|were|isn't|wasn't|has|looks|seems|shows|does|doesn't|would|can|cannot|could|fails|depicts
    |describes|fits|matches|remains|survives|holds|stands|wins|agrees|corresponds|applies|qualifies|only)\b"""
_END = re.compile(
    rf"""$
    | [.,:;!?)\]}}/&、。，：；！？"'”』>(\n\u4e00-\u9fff–—-]
    | \s*[-–—(（+=/&⋯]
    | \s*{COPULA} | \s*{OR}(?=[\s\w])
    | \s+(?:because|since|as|for|due|based|given|which|that|so|but|and|or|not|than|rather|instead|with|{_VERB})
    """,
    FLAGS,
)
_DENIED = re.compile(r"\W*(?:(?:not|neither|isn't|none)\b|不是|并非|不选)", re.IGNORECASE)
_NOT_BUT = re.compile(rf"{_DENIED.pattern}.*?(?:\bbut\b(?:\s+rather)?|\binstead\b|而是)\s*", re.IGNORECASE)
_RULED_OUT = re.compile(
    r"""\W{0,3}\s*(?:(?:is|was)\s+)?(?:(?:clearly|also|therefore)\s+)?(?:wrong|incorrect|false|not\s+correct)\b
    | \W{0,3}[✗✘❌] | 是?(?:错误|不正确|不对)""",
    FLAGS,
)
_JOINED = re.compile(rf"\s+(?:{_VERB}|and\b|or\b)", re.VERBOSE)
_VERB_NEXT = re.compile(rf"\s+{_VERB}", FLAGS)
_NEXT = rf"""번?\s*(?:(?P<always>/|\bor\b|{OR})|,|，|、|&|\+|\band\b|和|与|及)\s*(?:and\s+|or\s+)?"""
_MARK = r"(?P<lead>(?:\b(?:option|choice|answer|picture|image|figure)\s*|选项\s*)?[(\[]?)"
_LISTED = re.compile(r"(?:\b(?:and|or|vs)|[,/])\s*$")
_WORD = re.compile(r"\s+[a-z]")
_ENDS = re.compile(r"\s*(?:[.,;:!?…。，]|$|[^\x00-\x7f])")
_ARTICLES = frozenset({"A", "a", "I", "i"})


def fold_letters(text: str, keys: Sequence[str]) -> str:
    """Full-width letters, keycaps, badges and Cyrillic or Greek look-alikes of keys, as plain letters."""
    text = _KEYCAP.sub(r"\1", text)
    text = unicodedata.normalize("NFKC", "".join(_BADGES.get(sign, sign) for sign in text))
    if not _FOREIGN_WORD.search(_ANSWER_WORDS.sub("", text)) and not any(key in _LOOK_ALIKES for key in keys):
        text = _ALONE.sub(lambda found: _LOOK_ALIKES[found[0]], text)
    return text


class KeyReader:
    """Finds the keys of one set of options; a key is given back as the caller wrote it."""

    def __init__(self, options: Sequence[KeyedOption]) -> None:
        self._given = {unicodedata.normalize("NFKC", option.key).strip(): option.key for option in options}
        self._any_case = {_caseless(key): given for key, given in self._given.items()}
        self._texts = {option.key: option.text for option in options}
        names = "|".join(re.escape(key) for key in sorted(self._given, key=len, reverse=True))
        self.pattern = rf"(?<![{_LETTER}°$.])(?:{names})(?![{_LETTER}%]|[.,]\d|['’][a-zà-ÿ])"
        key = rf"(?P<key>{self.pattern})"
        self._first = re.compile(rf"{_LEAD}{key}{_CLOSE}", FLAGS)
        self._next = re.compile(rf"{_NEXT}{_LEAD}{key}{_CLOSE}(?P<verb>\s+{_VERB})?", FLAGS)
        self._mention = re.compile(rf"{_MARK}{key}(?P<close>[)\]]?)", re.VERBOSE)
        self._nothing_else = re.compile(
            rf"(?:{self.pattern}|\b(?:option|answer|choice|either|or|and|both)\b|[\W_])*", re.IGNORECASE
        )

    def given(self, key: str) -> str:
        """The key as the caller wrote it."""
        return self._given.get(key) or self._any_case[_caseless(key)]

    def leading(self, text: str, *, loose: bool = False) -> tuple[str, ...]:
        """The key that a statement begins with; several for "A or B"; none where it begins with other words.

        `loose` also takes a capital that is followed by any word ("B dog"), but not one that may be an article.
        """
        turned = _NOT_BUT.match(text)
        if turned is not None:
            text = text[turned.end() :]
        elif _DENIED.match(text):
            return ()
        found = self._first.match(text)
        if found is None or _RULED_OUT.match(text, found.end("key")):
            return ()
        if not (_END.match(text, found.end("key")) or self._ends_loosely(found, text, loose)):
            return ()
        keys = [self.given(found["key"])]
        place = found.end()
        while more := self._next.match(text, place):
            if more["key"] in ("a", "i") and _WORD.match(text, more.end("key")):
                break  # "B, a blue bus"
            if more["verb"] and not more["always"] and more["verb"].strip() not in ("are", "were"):
                break
            keys.append(self.given(more["key"]))
            place = more.end("key")
        return tuple(dict.fromkeys(keys))

    def opening(self, line: str) -> tuple[str, ...]:
        """The keys that a line opens with as a heading does: "C. text", "b)", "B, because"; not "A is …" nor "I, …"."""
        keys, found = self.leading(line), self._first.match(line)
        if not keys or found is None or _VERB_NEXT.match(line, found.end("key")):
            return keys if len(keys) > 1 else ()
        after = line[found.end("key") :].strip()
        sure = found["key"] in self._given and found["key"] not in _ARTICLES
        return keys if sure or len(keys) > 1 or not after or after[0] in ").:]" else ()

    def alone(self, text: str) -> tuple[str, ...]:
        """The keys of a text that holds nothing else: "(B)", "b.", "A or C"."""
        return self.leading(text) if self._nothing_else.fullmatch(text) else ()

    def mentioned(self, text: str) -> tuple[str, ...]:
        """The keys that occur; one that may be a word needs a bracket, a noun, a verb, or for A the end of a clause."""
        keys: list[str] = []
        for found in self._mention.finditer(text):
            key = self.given(found["key"])
            marked = found["lead"].strip() or found["close"] or _JOINED.match(text, found.end())
            before = text[max(0, found.start() - 4) : found.start()]
            ends = found["key"] == "A" and (_ENDS.match(text, found.end()) or _LISTED.search(before))
            if marked or ends or not (found["key"] in _ARTICLES or found["key"].isdigit()):
                keys.append(key)
        return tuple(dict.fromkeys(keys))

    def _ends_loosely(self, found: re.Match[str], text: str, loose: bool) -> bool:
        key, rest = found["key"], text[found.end() :]
        own = self._texts.get(self.given(key), "")
        if own and rest.casefold().startswith(own.casefold()):
            return True
        return loose and key.isupper() and key not in _ARTICLES


def _caseless(key: str) -> str:
    """Upper case first: patterns that ignore case also match a dotless ı or a long ſ."""
    return key.upper().casefold()
