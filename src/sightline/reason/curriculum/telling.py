"""Does a text say outright which option is right, by its key or its words? To speak of an option is not to say so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from sightline.reason.curriculum.lessons import Lesson
from sightline.score.answers.normalise import normalise
from sightline.score.answers.reply import phrases, plain, sentences, statements
from sightline.score.choices.keys import KeyReader, fold_letters
from sightline.score.choices.options import KeyedOption, read_options

_FLAGS = re.IGNORECASE | re.VERBOSE
_PICK = r"(?:choose|chose|select|pick|tick|mark|take|go\s+with|opt\s+for|settle\s+on)"
_SO = r"(?:so|thus|hence|therefore)"
# What is said of the option that is right, behind it.
_RIGHT = rf"""(?:
    \s*,?\s*(?:(?:{_SO}|then)\s+)?
    (?:is|are|was|seems|appears|looks|remains|(?:would|must|should|will|can\s+only|has\s+to)\s+be)\s+(?:to\s+be\s+)?
    (?:(?:the|clearly|most|indeed|definitely|{_SO}|then|my|our|your|likely|only|final|surely|obviously)\s+)*
    (?:(?:correct|right|best|true)
       (?=\s*(?:$|[.,;:!)]|(?:answer|option|choice|one|match|fit|here|because|since|as|and|but|so)\b))
      | (?:answer|solution)\b
      | (?:one|option|choice)\s+(?:to\s+{_PICK}|that\s+(?:is\s+right|fits))\b)
    | \s+(?:should|must|has\s+to|is\s+to|will|would|can)\s+be\s+(?:chosen|picked|selected|taken|ticked|marked)\b
    | \s*[):：.]?\s*(?:✓|✔|✅|\(\s*(?:correct|right)\s*\))
    )"""
# A letter behind one of these is its own, and no option's.
_OTHER = r"(?<!frame\ )(?<!vitamin\ )(?<!row\ )(?<!column\ )(?<!line\ )(?<!point\ )(?<!team\ )(?<!group\ )(?<!type\ )"
# What is said before it: that it is to be taken, whatever follows; or that it is it, with nothing behind.
_PICKED = rf"""(?:
    \b(?:i|we|you|one)
      (?:['’]d|['’]ll|\s+(?:would|will|shall|must|should|can|may|(?:have|has|need|ought)\s+to))?
      (?:\s+(?:{_SO}|then|definitely|only|now))?\s+{_PICK}
    | (?:^|[,;:：]\s*|\b(?:{_SO}|then|please)[,:]?\s+){_PICK}
    | \b(?:correct|right|ans|key|solution|final|ground[\s-]truth)\s*[:：=]
    | \b(?:correct|right)\s+one\s+(?:is|must\s+be|has\s+to\s+be|can\s+only\s+be)
    | \b(?:leaves|points\s+to|leads\s+to)(?:\s+us)?(?:\s+only)?
    | \b(?:matches|fits|equals|agrees\s+with|corresponds\s+to)\s+(?:the\s+)?(?=option|choice|answer)
    )\s*(?:the\s+)?(?:(?:option|choice|answer|letter)\s+)?"""
_IS_IT = rf"""(?:
    (?:^|[,;:：]\s*){_SO}[,:]?\s+(?:(?:it|this)\s+(?:is|(?:must|has\s+to|can\s+only)\s+be)\s+)?
    | \b(?:it|this|that)(?:['’]s|\s+(?:makes\s+it|means|gives|is|(?:must|has\s+to|can\s+only)\s+be))\s+
    | \b(?:i|we)(?:['’]d|['’]ll|\s+(?:would|will|must))?\s+(?:say|guess|answer)\s+(?:it(?:['’]s|\s+is)\s+)?
    )(?:clearly\s+|indeed\s+|only\s+)?(?:(?:option|choice|answer|letter)\s+)?"""
_WRONG = r"""\s+(?:is|are|can\s+be|must\s+be)\s+(?:all\s+|both\s+|clearly\s+|then\s+|thus\s+|therefore\s+)*
    (?:wrong|incorrect|false|out|impossible|not\s+(?:right|correct|it)|ruled\s+out|excluded|eliminated|discarded)\b"""
_IS_NOT = r"""\b(?:answer|it)\s*(?:\s(?:isn|can)['’]t(?:\s+be)?|\s(?:is|can)\s+not(?:\s+be)?|\scannot\s+be)\s+"""
_ALL_BUT = r"\b(?:everything|anything|all|all\s+(?:the\s+)?options|every\s+option)\s+(?:but|except(?:\s+for)?)\s+"
_CAN_BE = r"""\s+(?:can|could)\s+be\s+(?:right|correct|true|it|the\s+(?:(?:right|correct)\s+)?(?:answer|one|option))\b
    | \s+(?:is|are)\s+(?:left|possible)\b"""
_ENDS = r"(?=[\s)\"']*(?:$|[.,;:!]))"
# The words of the right option, and those of another one, in a sentence in which they have been marked.
_OWN, _OTHERS = "\ue000", "\ue001"
_OWN_TOLD = re.compile(
    rf"""{_OWN}['")]*\s+(?:is|are|must\s+be|has\s+to\s+be|can\s+only\s+be)\s+(?:{_SO}\s+|clearly\s+)?
      (?:the\s+(?:(?:correct|right)\s+one|(?:(?:correct|right|best)\s+)?(?:answer|option|choice))\b
        | correct(?=\s*(?:$|[.,;:!)]|(?:because|since|as|and|but|so|here)\b)))
    | \bonly\s+{_OWN}(?:{_CAN_BE})
    | {_ALL_BUT}{_OWN}{_WRONG}
    | (?:(?:^|[,;:：]\s*){_SO}[,:]?\s+(?:it|this)\s+is|\b(?:it|this|that)\s+(?:must|has\s+to|can\s+only)\s+be)\s+
      {_OWN}{_ENDS}
    | \b(?:(?:correct|right)\s+one\s+(?:is|must\s+be|has\s+to\s+be|can\s+only\s+be)|ground[\s-]truth\s*[:：=])\s*
      {_OWN}{_ENDS}""",
    _FLAGS,
)
_TICKED = re.compile(
    r"""\w\W*? (?:[✓✔✅☑]
    | (?:[(\[]|<[-=]+|[←⇐])\s*(?:the\s+)?(?:correct|answer|(?:correct|right)\s+(?:answer|option|choice|one)))\W*$""",
    _FLAGS,
)
_SHORT = 2
"""Letters or digits of a text that is common in other senses too."""
_BEFORE_SHORT = re.compile(
    r"(?:^|[^\w\s]\s*|\b(?:is|be|so|thus|hence|therefore|that|only|but|clearly)\s+)$", re.IGNORECASE
)
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_BEHIND_SHORT = re.compile(r"(?:as|because|since|but|so|which|here)\b")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_BY_PLACE = re.compile(
    rf"""\b(?:the\s+)?(?P<ordinal>{"|".join(_ORDINALS)}|last)\s+(?:option|choice)\b
    | \b(?:option|choice)\s+(?:number\s+)?(?P<number>{"|".join(_NUMBERS)})\b""",
    _FLAGS,
)
_EXAMPLE = r"for\s+example|for\s+instance|example|e\.\s?g\.|such\s+as|in\s+the\s+form(?:at)?(?:\s+of)?"
_SUPPOSED = re.compile(
    rf"""(?:\b(?:if|whether|unless|why|suppose|assume|assuming|when|in\s+case)\s+(?:that\s+)?|(?:\b(?:{_EXAMPLE}))\W*)
    (?:the\s+|your\s+|my\s+)?
    (?:(?:correct|right|best|final)\s+)?(?:(?:answer|option|choice)\s*)?(?:is|was|were|be|would\s+be)?\W*$""",
    _FLAGS,
)
_UNFINISHED = re.compile(rf"(?:\b(?:{_EXAMPLE}))\W*$", _FLAGS)
_DENIED = re.compile(r"\b(?:nor|neither|not|than|between)\s+(?:\w+\s+(?:and|or|nor)\s+)?(?:option\s+)?$", re.IGNORECASE)
_CONDITION = re.compile(r"[\s)\]\"'.,]*\b(?:if|when|where|unless|in\s+case|for\s+(?!sure))", re.IGNORECASE)
_NAMED = r"(?:\b(?:option|choice|answer|letter|picture|image)\s+)?"


def telling_sentence(text: str, lesson: Lesson) -> str | None:
    """The sentence of a text that says, alone or with others, that the answer is the right option; None without any."""
    reader = _reader(read_options(lesson.options), lesson.answer)
    left = others = {option.key for option in lesson.options} - {lesson.answer}
    for sentence in _sentences(text):
        said = reader.by_key(sentence)
        wrong = reader.ruled_out(said)
        left = left if lesson.answer in wrong else left - wrong
        if (others and not left) or reader.is_told(said):
            return sentence
    return None


def is_marked(lesson: Lesson) -> bool:
    """Does the list of options show which is right, by a mark behind its words, or because they name its own key?"""
    texts = {option.key: plain(option.text) for option in lesson.options}
    ticked = {key for key, text in texts.items() if _TICKED.search(text)}
    if lesson.answer in ticked and len(ticked) < len(texts):
        return True
    bare = _reader(tuple(KeyedOption(key, "") for key in texts), lesson.answer)
    return any(bare.is_told(bare.by_key(sentence)) for sentence in _sentences(texts.get(lesson.answer, "")))


def _sentences(text: str) -> Iterator[str]:
    """An example belongs to what it is an example of."""
    held = ""
    for sentence in sentences(plain(text)):
        held = f"{held} {sentence}".lstrip()
        if not _UNFINISHED.search(held):
            yield held
            held = ""


@lru_cache(maxsize=256)
def _reader(options: tuple[KeyedOption, ...], answer: str) -> _Reader:
    return _Reader(options, answer)


class _Reader:
    """Looks for one option in what sentences say the answer to be."""

    def __init__(self, options: tuple[KeyedOption, ...], answer: str) -> None:
        self._keys, self._answer = KeyReader(options), answer
        self._all = [option.key for option in options]
        self._texts = {normalise(option.text) for option in options} - {""}
        self._text = normalise(next((option.text for option in options if option.key == answer), ""))
        self._called = _called([option.text for option in options]) if self._text else None
        key = rf"""[(\[{{"'*]*(?P<key>(?-i:{self._keys.pattern}))[)\]}}"'*]*"""
        self._telling = [
            re.compile(pattern, _FLAGS)
            for pattern in (
                rf"{_NAMED}{_OTHER}{key}{_RIGHT}",
                rf"{_PICKED}{key}",
                rf"{_IS_IT}{key}{_ENDS}",
                rf"^answer\s+{key}\W*$",
                rf"\bonly\s+{_NAMED}{key}(?:{_CAN_BE})",
                rf"{_ALL_BUT}{_NAMED}{key}{_WRONG}",
            )
        ]
        one = rf"""(?:\b(?:options?|choices?|answers?)\s+)?[(\["']*(?-i:{self._keys.pattern})[)\]"']*"""
        several = rf"{one}(?:\s*(?:,\s*(?:and\s+|or\s+)?|and\s+|or\s+|nor\s+|&\s*|/\s*){one})*"
        self._is_wrong = re.compile(
            rf"""(?<!but\ )(?<!except\ )(?<!except\ for\ )(?P<keys>{several}){_WRONG}
            | (?:\bneither\s+|\bnone\s+of\s+|{_IS_NOT}(?:either\s+)?)(?P<behind>{several})""",
            _FLAGS,
        )

    def by_key(self, sentence: str) -> str:
        """A sentence with the key where it names an option by its place: "the second option"."""
        return _BY_PLACE.sub(self._at_place, fold_letters(sentence, self._all))

    def ruled_out(self, sentence: str) -> set[str]:
        """The options that a sentence says to be wrong."""
        found = [match["keys"] or match["behind"] for match in self._is_wrong.finditer(sentence)]
        return {self._keys.given(key) for keys in found for key in re.findall(f"(?-i:{self._keys.pattern})", keys)}

    def is_told(self, sentence: str) -> bool:
        """Does it say so by itself?"""
        return (
            any(self._names(content) for content in _said_to_be_right(sentence))
            or self._marked(sentence)
            or self._described(sentence)
        )

    def _at_place(self, found: re.Match[str]) -> str:
        word = (found["ordinal"] or found["number"]).lower()
        names = _ORDINALS if found["ordinal"] else _NUMBERS
        place = len(self._all) - 1 if word == "last" else names.index(word)
        return f"option {self._all[place]}" if place < len(self._all) else found[0]

    def _names(self, content: str) -> bool:
        """Does a statement begin with the option's key, and with no other, or with its words?"""
        if self._keys.leading(content) == (self._answer,):
            found = re.search(self._keys.pattern, content)
            return found is None or _CONDITION.match(content, found.end()) is None
        said = f"{normalise(content)} "
        named = max((text for text in self._texts if said.startswith(f"{text} ")), key=len, default="")
        behind = said[len(named) :].strip()
        ends = len(named) > _SHORT or not behind or _BEHIND_SHORT.match(behind) is not None
        return bool(named) and named == self._text and ends and not behind.startswith("or ")

    def _marked(self, sentence: str) -> bool:
        """Is its key called right, or chosen?"""
        for pattern in self._telling:
            for found in pattern.finditer(sentence):
                several = len(self._keys.leading(sentence[found.start("key") :])) > 1
                if self._keys.given(found["key"]) == self._answer and not several and not _is_open(found):
                    return True
        return False

    def _described(self, sentence: str) -> bool:
        """Are its words called right? Those of another option may hold them, and are told apart first."""
        if self._called is None:
            return False
        marked = self._called.sub(self._mark, sentence)
        return any(not _is_open(found) for found in _OWN_TOLD.finditer(marked))

    def _mark(self, found: re.Match[str]) -> str:
        if len(found["words"]) <= _SHORT and not _BEFORE_SHORT.search(found.string[: found.start()]):
            return found[0]
        return _OWN if normalise(found[0]) == self._text else _OTHERS


def _called(texts: Iterable[str]) -> re.Pattern[str]:
    """Finds the words of options, the longest first, with an article or without."""
    words = sorted({_ARTICLE.sub("", text.strip(" .")) for text in texts} - {""}, key=lambda text: (-len(text), text))
    ways = "|".join(re.escape(text) for text in words)
    return re.compile(rf"(?:\b(?:the|an?)\s+)?(?<![\w.,])(?P<words>{ways})(?![\w%]|[.,]\d)", re.IGNORECASE)


def _is_open(found: re.Match[str]) -> bool:
    """Is it supposed, denied or said under a condition?"""
    before = found.string[: found.start()]
    return bool(_SUPPOSED.search(before) or _DENIED.search(before) or _CONDITION.match(found.string, found.end()))


def _said_to_be_right(sentence: str) -> Iterator[str]:
    """What stands behind "The answer is", in a box, or in an answer's tag."""
    for found in {*statements(sentence), *phrases(sentence)}:
        if not _SUPPOSED.search(sentence[: found.start].rstrip()):
            yield found.content
