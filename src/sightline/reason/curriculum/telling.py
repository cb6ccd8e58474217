"""Does a text say outright which option is right, by its key or its words? To speak of an option is not to say so."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
# What is said before it: that it is to be taken, whatever follows; or that it is it, with nothing behind.
_PICKED = rf"""(?:
    \b(?:i|we|you|one)
      (?:'d|'ll|\s+(?:would|will|shall|must|should|can|may|(?:have|has|need|ought)\s+to))?
      (?:\s+(?:{_SO}|then|definitely|only|now))?\s+{_PICK}
    | (?:^|[,;:：]\s*|\b(?:{_SO}|then|please)[,:]?\s+){_PICK}
    | \b(?:correct|right|ans|key|solution|final)\s*[:：=]
    | \b(?:leaves|points\s+to|leads\s+to)(?:\s+us)?(?:\s+only)?
    | \b(?:matches|fits|equals|agrees\s+with|corresponds\s+to)\s+(?:the\s+)?(?=option|choice|answer)
    )\s*(?:the\s+)?(?:(?:option|choice|answer|letter)\s+)?"""
_IS_IT = rf"""(?:
    (?:^|[,;:：]\s*){_SO}[,:]?\s+(?:(?:it|this)\s+(?:is|(?:must|has\s+to|can\s+only)\s+be)\s+)?
    | \b(?:it|this|that)\s+(?:makes\s+it|means|gives|is|(?:must|has\s+to|can\s+only)\s+be)\s+
    )(?:clearly\s+|indeed\s+|only\s+)?(?:(?:option|choice|answer|letter)\s+)?"""
_WRONG = r"""\s+(?:is|are|can\s+be|must\s+be)\s+(?:all\s+|both\s+|clearly\s+|then\s+|thus\s+|therefore\s+)*
    (?:wrong|incorrect|false|out|impossible|not\s+(?:right|correct|it)|ruled\s+out|excluded|eliminated|discarded)\b"""
_IS_ANSWER = rf"""\s+(?:is|are|must\s+be|has\s+to\s+be)\s+(?:{_SO}\s+)?
    the\s+(?:(?:correct|right|best)\s+)?(?:answer|option|choice)\b"""
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
        wrong = reader.ruled_out(sentence)
        left = left if lesson.answer in wrong else left - wrong
        if (others and not left) or reader.is_told(sentence):
            return sentence
    return None


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
        texts = {option.key: normalise(option.text) for option in options}
        own = texts.get(answer, "")
        # A text of one or two signs, and one that begins another's, does not tell which option is meant.
        shared = any(key != answer and text.startswith(own) for key, text in texts.items())
        self._text = own if len(own) > 2 and not shared else None
        called = re.escape(next((option.text.strip(" .") for option in options if option.key == answer), ""))
        self._is_called = re.compile(rf"(?<!\w){called}['\"]?{_IS_ANSWER}", _FLAGS) if self._text else None
        key = rf"""[(\[{{"'*]*(?P<key>(?-i:{self._keys.pattern}))[)\]}}"'*]*"""
        self._is_right = re.compile(rf"{_NAMED}{key}{_RIGHT}", _FLAGS)
        self._is_picked = re.compile(rf"{_PICKED}{key}", _FLAGS)
        self._is_it = re.compile(rf"{_IS_IT}{key}(?=\s*(?:$|[.,;:!]))", _FLAGS)
        one = rf"""(?:\b(?:options?|choices?|answers?)\s+)?[(\["']*(?-i:{self._keys.pattern})[)\]"']*"""
        several = rf"{one}(?:\s*(?:,\s*(?:and\s+|or\s+)?|and\s+|or\s+|nor\s+|&\s*|/\s*){one})*"
        self._is_wrong = re.compile(rf"(?P<keys>{several}){_WRONG}|\bneither\s+(?P<neither>{several})", _FLAGS)

    def ruled_out(self, sentence: str) -> set[str]:
        """The options that a sentence says to be wrong."""
        found = [match["keys"] or match["neither"] for match in self._is_wrong.finditer(sentence)]
        return {self._keys.given(key) for keys in found for key in re.findall(f"(?-i:{self._keys.pattern})", keys)}

    def is_told(self, sentence: str) -> bool:
        """Does it say so by itself?"""
        folded = fold_letters(sentence, self._all)
        return any(self._names(content) for content in _said_to_be_right(folded)) or self._marked(folded)

    def _names(self, content: str) -> bool:
        """Does a statement begin with the option's key, and with no other, or with its words?"""
        if self._keys.leading(content) == (self._answer,):
            found = re.search(self._keys.pattern, content)
            return found is None or _CONDITION.match(content, found.end()) is None
        return self._text is not None and f"{normalise(content)} ".startswith(f"{self._text} ")

    def _marked(self, sentence: str) -> bool:
        """Is its key called right, or chosen?"""
        for pattern in (self._is_right, self._is_picked, self._is_it):
            for found in pattern.finditer(sentence):
                before = sentence[: found.start()]
                open_ = _SUPPOSED.search(before) or _DENIED.search(before) or _CONDITION.match(sentence, found.end())
                several = len(self._keys.leading(sentence[found.start("key") :])) > 1
                if self._keys.given(found["key"]) == self._answer and not open_ and not several:
                    return True
        return self._is_called is not None and self._is_called.search(sentence) is not None


def _said_to_be_right(sentence: str) -> Iterator[str]:
    """What stands behind "The answer is", in a box, or in an answer's tag."""
    for found in {*statements(sentence), *phrases(sentence)}:
        if not _SUPPOSED.search(sentence[: found.start].rstrip()):
            yield found.content
