"""Answer leakage: does a text say which option is right, by its key or its words?

Mentioning an option is not saying so, nor is supposing, denying or giving an example of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from sightline.metrics.answers.normalization import normalize
from sightline.metrics.answers.reply import Strength, phrases, plain, sentences, statements
from sightline.metrics.choices.keys import KeyReader, fold_letters
from sightline.metrics.choices.languages import (
    COPULA,
    EXAMPLE,
    FLAGS,
    IF,
    IS_RIGHT,
    NOT,
    OR,
    SO,
    answers_stated,
    bounded,
    is_common,
    is_open_behind,
)
from sightline.metrics.choices.options import KeyedOption, read_options
from sightline.reason.curriculum.lessons import Lesson

_EXAMPLE = r"\b(?:for\s+example|for\s+instance|example|e\.\s?g\.|such\s+as|in\s+the\s+form(?:at)?(?:\s+of)?)"
_SUPPOSED = re.compile(
    rf"""(?:\b(?:if|whether|unless|why|suppose|assume|assuming|when|in\s+case)\s+(?:that\s+)?|{_EXAMPLE}\W*)
    (?:the\s+|your\s+|my\s+)?
    (?:(?:correct|right|best|final)\s+)?(?:(?:answer|option|choice)\s*)?(?:is|was|were|be|would\s+be)?\W*$
    | (?:{IF}|{EXAMPLE})[^.,;!?。，、]{{0,30}}$""",
    FLAGS,
)
_LONGEST_LEAD = 40
_UNFINISHED = re.compile(rf"(?:{_EXAMPLE}|{EXAMPLE})\W*$", FLAGS)
_DENIED = re.compile(
    rf"\b(?:nor|neither|not|than|between)\s+(?:\w+\s+(?:and|or|nor)\s+)?(?:option\s+)?$|{NOT}\s*$", FLAGS
)
_CONDITION = re.compile(
    rf"""[\s)\]"'.,，、]*(?:\b(?:if|when|where|unless|in\s+case|for\s+(?!sure))|{IF}|吗|的|なら|라면|일\s*때)""", FLAGS
)
OWN, OTHERS = "\ue000", "\ue001"
"""The right option, and another one, in a sentence in which they have been marked."""
PICK = r"(?:choose|chose|select|pick|tick|mark|take|go\s+with|opt\s+for|settle\s+on)"
SO_EN = r"(?:so|thus|hence|therefore)"
WRONG = r"""\s+(?:is|are|can\s+be|must\s+be)\s+(?:all\s+|both\s+|clearly\s+|then\s+|thus\s+|therefore\s+)*
    (?:wrong|incorrect|false|out|impossible|not\s+(?:right|correct|it)|ruled\s+out|excluded|eliminated|discarded)\b"""
ALL_BUT = r"\b(?:everything|anything|all|all\s+(?:the\s+)?options|every\s+option)\s+(?:but|except(?:\s+for)?)\s+"
ENDS = r"(?=[\s)\"']*(?:$|[.,;:!。，；！]))"
# Behind "only B" and "only the red cup".
CAN_BE = rf"""(?:
    \s+(?:can|could)\s+be\s+(?:right|correct|true|it|the\s+(?:(?:right|correct)\s+)?(?:answer|one|option))\b
    | \s+(?:is|are)\s+(?:left|possible)\b
    | \s+(?:fits?|match(?:es)?|works?|remains?|qualif(?:ies|y))
      (?:{ENDS}|\s+(?:(?:all|both|the|this|these)\s+)*(?:descriptions?|questions?|conditions?|clues?|evidence)\b))"""
PICK_IT = r"""\b(?:so|then|thus|hence|therefore)[,:]?\s+(?:(?:we|you|i)\s+)?
    (?:choose|select|pick|tick|go\s+with|opt\s+for)\s+(?:it|this|that)\b(?!\s+up)"""
_TOLD = re.compile(
    rf"""{OWN}['")]*\s+(?:is|are|must\s+be|has\s+to\s+be|can\s+only\s+be)\s+(?:{SO_EN}\s+|clearly\s+)?
      (?:the\s+(?:(?:correct|right)\s+one|(?:(?:correct|right|best)\s+)?(?:answer|option|choice))\b
        | correct(?=\s*(?:$|[.,;:!)]|(?:because|since|as|and|but|so|here)\b)))
    | \bonly\s+{OWN}{CAN_BE}
    | {ALL_BUT}{OWN}{WRONG}
    | {OWN}[^{OTHERS}.;!?]*?{PICK_IT}
    | (?:(?:^|[,;:：]\s*){SO_EN}[,:]?\s+(?:it|this)\s+is|\b(?:it|this|that)\s+(?:must|has\s+to|can\s+only)\s+be)\s+
      {OWN}{ENDS}
    | (?:^|[,;:：]\s*){SO_EN}[,:]?\s+{OWN}['")]*(?=\s*(?:$|[.;!]))
    | \b(?:(?:correct|right)\s+one\s+(?:is|must\s+be|has\s+to\s+be|can\s+only\s+be)|ground[\s-]truth\s*[:：=])\s*
      {OWN}{ENDS}""",
    FLAGS,
)
_BE = r"(?:is|are|was|were|remains?|(?:must|has\s+to|have\s+to|can\s+only|should)\s+be)"
DOES = r"""(?:(?:\w+ly|indeed|alone)\s+)?(?:is|are|was|were|has|have|had|does|did|must|can|will|would|should|remains?
    |fits?|matches|looks|seems|appears|goes|went|moves|moved|stands|stood|lies|lay|comes|came|wins|won|changed)"""
_THEN = rf"""(?:{SO_EN}|consequently|accordingly|in\s+conclusion|as\s+a\s+result
      |(?:it\s+follows|(?:we|i)\s+conclude|this\s+(?:means|shows|proves))\s+that)"""
_CONNECTIVE = re.compile(rf"\b{_THEN}\b|{SO}", FLAGS)
_LEADS = rf"""(?:^|[,;:：–—]\s*)(?:and\s+)?{_THEN}[,:]?\s+(?!far\b|that\b|many\b|much\b|long\b)"""
_CONCLUDED = re.compile(
    rf"""(?:
      {_LEADS}(?:only\s+)?{OWN}['")]*(?:{ENDS}|\s+{DOES}\b)
    | {_LEADS}[^{OWN}{OTHERS}.;:!?]{{0,80}}?\b{_BE}\s+{OWN}{ENDS}
    | \b{_BE}\s+(?:thus|hence|therefore|consequently)[,:]?\s+{OWN}{ENDS}
    | {OWN}['")]*\s+{DOES}\s+(?:thus|hence|therefore|consequently)\b
    | (?:^|[,;:：，；]\s*){SO}\s*(?:(?:ist|der|die|das|le|la|el|il|o|a)\s+)*(?:只有|应该是|就是)?{OWN}
      (?![的和与及或、之])
    )(?P<rest>.*)""",
    FLAGS | re.DOTALL,
)
_UNDECIDED = re.compile(
    rf"""{OTHERS} | [?？]
    | \b(?:not|never|no|nor|neither|cannot|if|unless|whether|may|might|could|or|nicht|pas|não|non|не)\b | n['’]t\b
    | 不 | 没 | 并非 | 吗 | ない | 아니""",
    FLAGS,
)
_BEFORE_SHORT = re.compile(
    r"(?:^|[^\w\s]\s*|\b(?:is|be|so|thus|hence|therefore|that|only|but|clearly)\s+)$", re.IGNORECASE
)
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
# What is said of the option that is right, behind it.
_RIGHT = rf"""(?:
    \s*,?\s*(?:(?:{SO_EN}|then)\s+)?
    (?:is|are|was|seems|appears|looks|remains|(?:would|must|should|will|can\s+only|has\s+to)\s+be)\s+(?:to\s+be\s+)?
    (?:(?:the|clearly|most|indeed|definitely|{SO_EN}|then|my|our|your|likely|only|final|surely|obviously)\s+)*
    (?:(?:correct|right|best|true)
       (?=\s*(?:$|[.,;:!)]|(?:answer|option|choice|one|match|fit|here|because|since|as|and|but|so)\b))
      | (?:answer|solution)\b | winner{ENDS}
      | (?:one|option|choice)\s+(?:to\s+{PICK}|that\s+(?:is\s+right|fits))\b)
    | \s+(?:should|must|has\s+to|is\s+to|will|would|can)\s+be\s+(?:chosen|picked|selected|taken|ticked|marked)\b
    | \s*[):：.]?\s*(?:✓|✔|✅|\(\s*(?:correct|right)\s*\))
    )"""
# A letter behind one of these is its own, and no option's.
_OTHER = r"(?<!frame\ )(?<!vitamin\ )(?<!row\ )(?<!column\ )(?<!line\ )(?<!point\ )(?<!team\ )(?<!group\ )(?<!type\ )"
# What is said before it: that it is to be taken, whatever follows; or that it is it, with nothing behind.
_PICKED = rf"""(?:
    \b(?:i|we|you|one)
      (?:['’]d|['’]ll|\s+(?:would|will|shall|must|should|can|may|(?:have|has|need|ought)\s+to))?
      (?:\s+(?:{SO_EN}|then|definitely|only|now))?\s+{PICK}
    | (?:^|[,;:：]\s*|\b(?:{SO_EN}|then|please)[,:]?\s+){PICK}
    | \b(?:correct|right|ans|key|solution|final|ground[\s-]truth)\s*[:：=]
    | \b(?:correct|right)\s+one\s+(?:is|must\s+be|has\s+to\s+be|can\s+only\s+be)
    | \b(?:leaves|points\s+to|leads\s+to)(?:\s+us)?(?:\s+only)?
    | \b(?:matches|fits|equals|agrees\s+with|corresponds\s+to)\s+(?:the\s+)?(?=option|choice|answer)
    )\s*(?:the\s+)?(?:(?:option|choice|answer|letter)\s+)?"""
_IS_IT = rf"""(?:
    (?:^|[,;:：]\s*){SO_EN}[,:]?\s+(?:(?:it|this)\s+(?:is|(?:must|has\s+to|can\s+only)\s+be)\s+)?
    | \b(?:it|this|that)(?:['’]s|\s+(?:makes\s+it|means|gives|is|(?:must|has\s+to|can\s+only)\s+be))\s+
    | \b(?:i|we)(?:['’]d|['’]ll|\s+(?:would|will|must))?\s+(?:say|guess|answer)\s+(?:it(?:['’]s|\s+is)\s+)?
    )(?:clearly\s+|indeed\s+|only\s+)?(?:(?:option|choice|answer|letter)\s+)?"""
_IS_NOT = r"""\b(?:answer|it)\s*(?:\s(?:isn|can)['’]t(?:\s+be)?|\s(?:is|can)\s+not(?:\s+be)?|\scannot\s+be)\s+"""
_TICKED = re.compile(
    r"""\w\W*? (?:[✓✔✅☑]
    | (?:[(\[]|<[-=]+|[←⇐])\s*(?:the\s+)?(?:correct|answer|(?:correct|right)\s+(?:answer|option|choice|one)))\W*$""",
    FLAGS,
)
_BEHIND_SHORT = re.compile(r"(?:as|because|since|but|so|which|here)\b")
_BEHIND_UNSPACED = re.compile(rf"{COPULA}|因|由于|而")
_OR = re.compile(rf"or\b|{OR}", FLAGS)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_BY_PLACE = re.compile(
    rf"""\b(?:the\s+)?(?P<ordinal>{"|".join(_ORDINALS)}|last)\s+(?:option|choice)\b
    | \b(?:option|choice)\s+(?:number\s+)?(?P<number>{"|".join(_NUMBERS)})\b""",
    FLAGS,
)
_NAMED = r"(?:\b(?:option|choice|answer|letter|picture|image)\s+)?"


def is_supposed(before: str) -> bool:
    """By what stands before it."""
    return _SUPPOSED.search(before) is not None


def is_conditional(text: str, end: int) -> bool:
    """By what stands behind it."""
    return _CONDITION.match(text, end) is not None


def is_unfinished(text: str) -> bool:
    """Does an example follow?"""
    return _UNFINISHED.search(text[-_LONGEST_LEAD:]) is not None


def is_open(found: re.Match[str]) -> bool:
    """By what stands before and behind what was found."""
    before = found.string[: found.start()]
    return is_supposed(before) or _DENIED.search(before) is not None or is_conditional(found.string, found.end())


class OptionWording:
    """Looks for the words of one option; those of another one may hold them, and are told apart."""

    def __init__(self, texts: Iterable[str], right: str) -> None:
        self._right = normalize(right)
        self._called = _called(texts)
        self.is_common = is_common(_ARTICLE.sub("", right.strip(" .。")))

    def marked(self, sentence: str) -> str:
        """A sentence with a mark for the words of each option."""
        return self._called.sub(self._mark, sentence)

    def is_told(self, marked: str) -> bool:
        """Are its words called right?"""
        return any(not is_open(found) for found in _TOLD.finditer(marked))

    def _mark(self, found: re.Match[str]) -> str:
        if is_common(found["words"]) and not _BEFORE_SHORT.search(found.string[: found.start()]):
            return found[0]
        return OWN if normalize(found[0]) == self._right else OTHERS


def may_conclude(sentence: str) -> bool:
    """Has it any word of a conclusion? Most have none, and need no marks."""
    return _CONNECTIVE.search(sentence) is not None


def concludes(marked: str) -> bool:
    """Does a sentence with marks come to the right option ("so", "therefore"), to it alone, and without denying it?"""
    found = _CONCLUDED.search(marked)
    return found is not None and not _UNDECIDED.search(found["rest"]) and not is_open(found)


def _called(texts: Iterable[str]) -> re.Pattern[str]:
    """Finds the words of options, the longest first, with an article or without."""
    words = sorted({_ARTICLE.sub("", text.strip(" .。")) for text in texts} - {""}, key=lambda text: (-len(text), text))
    ways = "|".join(bounded(text) for text in words)
    return re.compile(rf"(?:\b(?:the|an?)\s+)?(?<![.,])(?P<words>{ways})(?!%|[.,]\d)", re.IGNORECASE)


def leaking_sentence(text: str, lesson: Lesson, *, reasons: bool = True) -> str | None:
    """The sentence of a text that says, alone or with others, that the answer is the right option; None without any.

    What `reasons` may also tell it by concluding with the option; "so" in a question leads to a premise.
    """
    reader = _reader(read_options(lesson.options), lesson.answer)
    left = others = {option.key for option in lesson.options} - {lesson.answer}
    for sentence in _sentences(text):
        said = reader.by_key(sentence)
        wrong = reader.ruled_out(said)
        left = left if lesson.answer in wrong else left - wrong
        if (others and not left) or reader.is_told(said) or (reasons and reader.is_concluded(said)):
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
        if not is_unfinished(held):
            yield held
            held = ""


class _KeyPatterns(NamedTuple):
    """A key that is said to be right (`key`), keys that are said to be wrong, and a key that is named at all."""

    told: tuple[re.Pattern[str], ...]
    wrong: re.Pattern[str]
    named: re.Pattern[str]


@lru_cache(maxsize=64)
def _key_patterns(keys: str) -> _KeyPatterns:
    """For a pattern of keys, which most questions have in common."""
    bare = f"(?-i:{keys})"
    key = rf"""[(\[{{"'*]*(?P<key>{bare})[)\]}}"'*]*"""
    told = (
        rf"{_NAMED}{_OTHER}{key}{_RIGHT}",
        rf"{_PICKED}{key}",
        rf"{_IS_IT}{key}{ENDS}",
        rf"^answer\s+{key}\W*$",
        rf"\bonly\s+{_NAMED}{key}{CAN_BE}",
        rf"{ALL_BUT}{_NAMED}{key}{WRONG}",
        rf"{key}(?=\s+{DOES}\b)(?:(?!{bare})[^.;!?])*?{PICK_IT}",
        rf"{_OTHER}{key}{IS_RIGHT}",
        rf"(?:^|[,;:：，；]\s*){SO}\s*{key}(?:\s*{COPULA}|{ENDS})",
    )
    one = rf"""(?:\b(?:options?|choices?|answers?)\s+)?[(\["']*{bare}[)\]"']*"""
    several = rf"{one}(?:\s*(?:,\s*(?:and\s+|or\s+)?|and\s+|or\s+|nor\s+|&\s*|/\s*){one})*"
    wrong = rf"""(?<!but\ )(?<!except\ )(?<!except\ for\ )(?P<keys>{several}){WRONG}
        | (?:\bneither\s+|\bnone\s+of\s+|{_IS_NOT}(?:either\s+)?)(?P<behind>{several})"""
    named = rf"""(?:(?P<noun>\b(?:the\s+)?(?:option|choice|answer|letter)\s+)|\b(?:the\s+)?(?:picture|image)\s+)?
        {_OTHER}{key}(?={ENDS}|\s+{DOES}\b)"""
    return _KeyPatterns(
        tuple(re.compile(way, FLAGS) for way in told), re.compile(wrong, FLAGS), re.compile(named, FLAGS)
    )


@lru_cache(maxsize=256)
def _reader(options: tuple[KeyedOption, ...], answer: str) -> _Reader:
    return _Reader(options, answer)


class _Reader:
    """Looks for one option in what sentences say the answer to be."""

    def __init__(self, options: tuple[KeyedOption, ...], answer: str) -> None:
        self._keys, self._answer = KeyReader(options), answer
        self._all = [option.key for option in options]
        self._texts = {normalize(option.text) for option in options} - {""}
        right = next((option.text for option in options if option.key == answer), "")
        self._text = normalize(right)
        self._wording = OptionWording([option.text for option in options], right) if self._text else None
        self._said = _key_patterns(self._keys.pattern)

    def by_key(self, sentence: str) -> str:
        """A sentence with the key where it names an option by its place: "the second option"."""
        return _BY_PLACE.sub(self._at_place, fold_letters(sentence, self._all))

    def ruled_out(self, sentence: str) -> set[str]:
        """The options that a sentence says to be wrong."""
        found = [match["keys"] or match["behind"] for match in self._said.wrong.finditer(sentence)]
        return {self._keys.given(key) for keys in found for key in re.findall(f"(?-i:{self._keys.pattern})", keys)}

    def is_told(self, sentence: str) -> bool:
        """Does it say so by itself?"""
        return (
            any(self._names(content) for content in _said_to_be_right(sentence))
            or self._marked(sentence)
            or (self._wording is not None and self._wording.is_told(self._wording.marked(sentence)))
        )

    def is_concluded(self, sentence: str) -> bool:
        """Is it what the sentence comes to?"""
        if not may_conclude(sentence):
            return False
        wording = self._wording
        marked = sentence if wording is None or wording.is_common else wording.marked(sentence)
        return concludes(self._said.named.sub(self._mark, marked))

    def _at_place(self, found: re.Match[str]) -> str:
        word = (found["ordinal"] or found["number"]).lower()
        names = _ORDINALS if found["ordinal"] else _NUMBERS
        place = len(self._all) - 1 if word == "last" else names.index(word)
        return f"option {self._all[place]}" if place < len(self._all) else found[0]

    def _names(self, content: str) -> bool:
        """Does a statement begin with the option's key, and with no other, or with its words?"""
        if self._keys.leading(content) == (self._answer,):
            found = re.search(self._keys.pattern, content)
            return found is None or not is_conditional(content, found.end())
        said = f"{normalize(content)} "
        named = max((text for text in self._texts if _begins(said, text)), key=len, default="")
        behind = said[len(named) :]
        return bool(named) and named == self._text and _ends(named, behind) and not _OR.match(behind.strip())

    def _marked(self, sentence: str) -> bool:
        """Is its key called right, or chosen?"""
        for pattern in self._said.told:
            for found in pattern.finditer(sentence):
                several = len(self._keys.leading(sentence[found.start("key") :])) > 1
                if self._keys.given(found["key"]) == self._answer and not several and not is_open(found):
                    return True
        return False

    def _mark(self, found: re.Match[str]) -> str:
        """A key that may be a word, or the number of a picture, needs a noun before it."""
        if not found["noun"] and (not found["key"].isupper() or found["key"] == "I"):
            return found[0]
        return OWN if self._keys.given(found["key"]) == self._answer else OTHERS


def _begins(said: str, text: str) -> bool:
    return said.startswith(text) and (said[len(text)] == " " or is_open_behind(text))


def _ends(named: str, behind: str) -> bool:
    """Does the name of an option end where it seems to?"""
    if not behind.startswith(" "):
        return _BEHIND_UNSPACED.match(behind) is not None
    return not is_common(named) or not behind.strip() or _BEHIND_SHORT.match(behind.strip()) is not None


def _said_to_be_right(sentence: str) -> Iterator[str]:
    """What stands behind "The answer is" in any language, in a box, or in an answer's tag."""
    marked = statements(sentence)
    hidden = phrases(sentence) if any(one.strength is Strength.STRUCTURE for one in marked) else ()
    for found in (*marked, *hidden, *answers_stated(sentence)):
        if not is_supposed(sentence[: found.start].rstrip()):
            yield found.content
