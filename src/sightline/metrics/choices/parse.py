"""From a model's reply to the option that it chose, with the way in which it was read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sightline.metrics.answers.match import match_answer
from sightline.metrics.answers.normalization import normalize, polarity
from sightline.metrics.answers.reply import (
    MOST_STATEMENTS,
    Statement,
    Strength,
    concluding,
    corrections,
    phrases,
    plain,
    sentences,
    statements,
    strongest,
    without_thinking,
)
from sightline.metrics.choices.clauses import ClauseReader
from sightline.metrics.choices.keys import KeyReader, fold_letters
from sightline.metrics.choices.languages import FLAGS, IS_RIGHT, SO, answers_stated, bounded, is_common
from sightline.metrics.choices.options import KeyedOption, Options, read_options
from sightline.types import Answer, Choice

# What says of a key that it is the answer; the key itself stands before it.
_RIGHT = r"""
    \s+(?:is|seems|appears|looks|would\s+be|must\s+be|should\s+be)\s+(?:to\s+be\s+)?
    (?:(?:the|clearly|most|indeed|definitely|therefore|thus|my|probably|likely|only|single|final)\s+)*
    (?:correct|right|best|accurate|appropriate|suitable|plausible|likely|answer|choice)\b"""
_CHOOSE = re.compile(
    r"""
    (?:\b(?:i|we)(?:'d|'ll|\s+would|\s+will|\s+shall|\s+must|\s+should|\s+can)?(?:\s+(?:therefore|thus|then|definitely))?\s+
       (?:choose|chose|select|selected|pick|picked|go\s+(?:with|for)|opt\s+for|vote\s+for|say)
      |(?:^|[.!?\n])\s*(?:choose|select|pick|go\s+with))\b
    | \b(?:going\s+with|my\s+(?:pick|vote|guess)\s+is)\b
    | \bans\b\.?\s*[:：=-]? | \bfinal\s*[:：]
    """,
    FLAGS,
)
_SO = re.compile(
    rf"""(?:^|[.!?。！？\n;；,，])\s*(?:{SO}\s*|(?:so(?!\s+(?:is|are|does|do)\b)|thus|hence|therefore|finally|in\s+conclusion)[,，:：]?\s*
    (?:(?:it\s+(?:is|must\s+be|should\s+be|has\s+to\s+be)|it's|this\s+is|that's|i'd\s+say)\s*)?)""",
    FLAGS,
)
_REFUSAL = re.compile(
    r"""
    \bi(?:'m|\s+am)?\s+(?:very\s+)?(?:sorry|afraid|unable|not\s+able|can't|cannot|can\s+not|won't|will\s+not|don't\s+know
        |do\s+not\s+know|have\s+no\s+idea|apologi[sz]e|choose\s+not\s+to)\b
    | \bas\s+an\s+ai\b | \bsorry, | \bno\s+idea\b | \bunable\s+to\b | \bnot\s+enough\s+information\b
    | \b(?:cannot|can't)\s+(?:be\s+)?(?:answer|determin|help|assist|tell)
    | 无法 | 抱歉 | 对不起 | 不能(?:回答|确定|提供|判断) | 我不知道
    """,
    FLAGS,
)
_IS = "but|rather|sondern|sino|mais|is|be|with|say|choose|pick|it's|ist|für|est|es|é|è|это"
_YES = "correct|right|yes|true|richtig|korrekt|correct[aeo]|vrai|juste|corrett?[ao]|cert[ao]|верно|正解|정답|正确"
_COUNTED = r"(?<!first\ )(?<!second\ )(?<!third\ )(?<!fourth\ )(?<!fifth\ )(?<!last\ )"
_DANGLING = re.compile(
    rf"(?:\b{_COUNTED}(?:answer|option|choice)\s*(?:is|:)?|[,:：，、]"
    r"|\b(?:the|(?-i:a)|an|of|and|(?<!it\ )is|to|in|that|with))\s*$",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\W*\w[\w ]{0,30}[:：】\]]\s*(?=\W*\w+\W*$)")
_FINISHED = re.compile(r"[.!?|。！？)\]}>\"'”』`*…✓✔✅✗✘❌✖]\s*$")
_NEGATED = re.compile(
    r"\b(?:not|no|isnt|cannot|cant|never|neither|nor|without|rather than|instead of)(?: (?!but\b)\w+){0,2} $"
    r"|(?:没有|并非|不是|不)$"
)
# As a word of its own it denies what was asked, not the option behind it: "No, the left one".
_NO = re.compile(r"(?:\bno|不是?)\s*[,，;；.。!！:：–—]", re.IGNORECASE)
_NEGATED_BEHIND = re.compile(r"不(?![仅但愧])|没有|并非|ではな|じゃな|[이가은는]? ?아니")
_VERDICTS = frozenset({"right", "correct", "true"})
_FEWEST_WORDS, _FEWEST_GOING_ON = 8, 4
_LONGEST_CONTENT = 300
_HEAD, _TAIL = 4_000, 20_000
"""Characters that are read of a longer reply: an answer stands at its beginning or at its end."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """Which options a piece of text names, and whether by key or by text."""

    keys: tuple[str, ...]
    status: str


def parse_choice(text: str, options: Options) -> Choice:
    """The option that a reply chooses; `status` says how it was read, or why it was not.

    "parsed": by its key. "text": by the option's own text. Otherwise `option` is None: "ambiguous" (two final
    statements, or several options and no conclusion), "refused", "cut off", "empty", "unparsed".
    The most plainly marked final statement wins; one after "Wait, …" takes back those before it. Of a reply that is
    longer than 24,000 characters, thinking aside, only the first 4,000 and the last 20,000 are read.

    Parameters
    ----------
    text:
        The reply of a model.
    options:
        The keys of the options, or keys and texts.

    Returns
    -------
    Choice
        `option`, None where none can be read, and `status`.

    Examples
    --------
    >>> import sightline
    >>> sightline.parse_choice("A or B? The answer is (B).", ["A", "B", "C"]).option
    'B'
    """
    known = read_options(options)
    reply = without_thinking(text)
    shown = plain(_ends(reply.text)).strip()
    if not shown:
        return Choice(None, "cut off" if reply.cut else "empty")
    reading = _parser(known).read(shown)
    if reading is None:
        return Choice(None, _why_not(shown, known))
    if len(reading.keys) != 1:
        return Choice(None, "ambiguous")
    return Choice(reading.keys[0], reading.status)


def _ends(text: str) -> str:
    """The text without the middle of a very long one; the mark keeps its two ends from being one statement."""
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}\n… {text[-_TAIL:]}"


@lru_cache(maxsize=256)
def _parser(options: tuple[KeyedOption, ...]) -> _Parser:
    return _Parser(options)


class _Parser:
    def __init__(self, options: tuple[KeyedOption, ...]) -> None:
        self._options = options
        self._keys = KeyReader(options)
        self._texts = {option.key: normal for option in options if (normal := normalize(option.text))}
        self._clauses = ClauseReader(self._keys.pattern, options)
        self._say_no = any(_NO.search(option.text) for option in options)
        key = self._keys.pattern
        self._finished = re.compile(rf"(?:\b(?:{_IS})\s+|[是选])[(]?{key}[)]?$", re.MULTILINE)
        self._is_right = re.compile(
            rf"""(?:\b(?:option|choice|answer)\s+)?[(\[]?(?P<key>{key})[)\]]?{_RIGHT}
            | (?P<listed>{key})\s*[):：|]?\s*(?:[✓✔✅]|(?<=[):：|\s])(?i:{_YES})(?!\w))
            | (?:[✓✔✅]|\[[xX]\])\s*(?P<ticked>{key})
            | (?P<abroad>{key})(?i:{IS_RIGHT})
            | \b(?i:answer|option)\s+[(\[]?(?P<bare>{key})[)\]]?(?=\s*(?:[.!]|$|\n))""",
            re.VERBOSE | re.MULTILINE,
        )

    def read(self, shown: str) -> _Reading | None:
        """Marks of structure decide; then what clauses assert; then what they waver about; then what they leave."""
        text = fold_letters(shown, [option.key for option in self._options])
        structure = [statement for statement in statements(text) if statement.strength is Strength.STRUCTURE]
        if decided := self._stated(self._readable(structure), text) or self._closing(text):
            return decided
        clauses = self._clauses.read(text)
        why_not = _why_not(shown, self._options)
        reading = self._marked(clauses.asserted)
        if reading is not None and len(clauses.last) == 1 and not clauses.last.intersection(reading.keys):
            reading = _Reading(tuple(map(self._keys.given, clauses.last)), "parsed")
        if reading is None and clauses.concluded and (why_not != "cut off" or self._finished.search(text)):
            reading = _Reading(tuple(map(self._keys.given, clauses.concluded)), "parsed")
        if reading is None and clauses.wavering != clauses.asserted:
            reading = self._said(clauses.wavering) or self._equal_text(clauses.wavering)
        if reading is None and why_not == "unparsed":
            reading = self._unmarked(clauses.wavering, clauses.supported)
        if reading is None and why_not != "refused":
            reading = self._left(clauses.denied)
        if (reading is None or len(reading.keys) > 1) and why_not == "unparsed" and clauses.committed:
            reading = _Reading(tuple(map(self._keys.given, clauses.committed)), "parsed")
        if reading is None or not clauses.refuted:
            return reading
        return _Reading(tuple(key for key in reading.keys if key not in clauses.refuted), reading.status)

    def _closing(self, text: str) -> _Reading | None:
        """A reply that ends with "The answer is" and an option's whole text, whatever words of denial that holds."""
        last = max(phrases(text), key=lambda statement: statement.start, default=None)
        if last is None or self._keys.leading(last.content):
            return None
        if not normalize(text).endswith(said := normalize(last.content)):
            return None
        keys = tuple(key for key, option in self._texts.items() if option == said)
        return _Reading(keys, "text") if len(keys) == 1 else None

    def _marked(self, text: str) -> _Reading | None:
        """Statements, then keys in plain places, then a reply that is an option's text."""
        return self._said(text) or self._from_places(text) or self._equal_text(text)

    def _said(self, text: str) -> _Reading | None:
        return self._stated(self._readable([*phrases(text), *self._choosing(text)]), text)

    def _unmarked(self, text: str, supported: frozenset[str]) -> _Reading | None:
        """Texts that occur, then keys that are merely mentioned, unless the reply says what its answer is."""
        marked = bool(statements(text))  # It says what its answer is, and that is no option.
        return self._contained(text) or (None if marked else self._mentioned(text, supported))

    def _left(self, denied: frozenset[str]) -> _Reading | None:
        """The one option that is left where all others are denied."""
        left = [option.key for option in self._options if option.key not in denied]
        return _Reading((left[0],), "parsed") if denied and len(left) == 1 else None

    def _stated(self, read: dict[Statement, _Reading], text: str) -> _Reading | None:
        """What the strongest readable statements say."""
        stated = strongest(list(read), text)
        if not stated:
            return None
        if corrected := self._corrected(text, stated[-1].start):
            return corrected
        final = [read[statement] for statement in stated]
        keys = tuple(dict.fromkeys(key for reading in final for key in reading.keys))
        return _Reading(keys, final[-1].status)

    def _readable(self, found: Sequence[Statement]) -> dict[Statement, _Reading]:
        ordered = sorted(found, key=lambda statement: statement.start)[-MOST_STATEMENTS:]
        return {statement: reading for statement in ordered if (reading := self._content(statement.content))}

    def _choosing(self, text: str) -> Iterator[Statement]:
        """Statements in ways that only options are spoken of: "Option B is correct", "I choose C", "故选 D"."""
        for found in self._is_right.finditer(text):
            yield Statement(found[found.lastgroup or 0], Strength.PHRASE, found.start())
        for found in _CHOOSE.finditer(text):
            first = text[found.end() : found.end() + _LONGEST_CONTENT].partition("\n")[0]
            yield Statement(first, Strength.PHRASE, found.end())
        yield from answers_stated(text)
        for found in _SO.finditer(text):
            first = (*sentences(text[found.end() : found.end() + _LONGEST_CONTENT]), "")[0]
            if self._keys.alone(first):
                yield Statement(first, Strength.PHRASE, found.end())

    def _content(self, content: str) -> _Reading | None:
        """The key that a statement begins with, else the one option whose text it is or holds."""
        keys = self._keys.leading(content)
        if keys:
            return _Reading(keys, "parsed")
        texts = self._equal_text(content) or self._contained(content)
        if texts is not None:
            return texts
        keys = self._keys.leading(content, loose=True)
        return _Reading(keys, "parsed") if keys else None

    def _corrected(self, text: str, start: int) -> _Reading | None:
        """The option that takes the place of the one named at `start`; none of them where it is only taken back."""
        for content in reversed(corrections(text, start)):
            first = (*sentences(content), "")[0]
            right = self._is_right.match(first)
            if right is not None:
                return _Reading((self._keys.given(right[right.lastgroup or 0]),), "parsed")
            if keys := self._keys.opening(first):
                return _Reading(keys, "parsed")
            if texts := self._equal_text(first):
                return texts
            if not first:  # "Wait, no." and nothing in its place.
                return _Reading((), "parsed")
            if committed := self._clauses.read(first).committed:
                return _Reading(tuple(map(self._keys.given, committed)), "parsed")
        return None

    def _from_places(self, text: str) -> _Reading | None:
        """A reply that is a key, begins with one ("C. text"), or ends with one on a line of its own ("Response: C")."""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        starts = {keys for line in lines if (keys := self._keys.opening(line))}
        if len(starts) == 1 and self._keys.opening(lines[0]):
            return self._corrected(text, 0) or _Reading(starts.pop(), "parsed")
        last = self._keys.alone(_LABEL.sub("", lines[-1])) if lines else ()
        return _Reading(last, "parsed") if last else None

    def _equal_text(self, text: str) -> _Reading | None:
        """The options whose text is what was said: in normal form, or as a number, a date, a yes or no."""
        normal = normalize(text)
        keys = tuple(key for key, option in self._texts.items() if option == normal)
        if not keys:
            keys = tuple(o.key for o in self._options if o.text and match_answer(Answer(o.text), text).matched)
            if any(self._texts.get(key) in _VERDICTS for key in keys):  # "The left one is right."
                keys = tuple(dict.fromkeys((*keys, *self._occurring(text))))
        return _Reading(keys, "text") if keys else None

    def _contained(self, text: str) -> _Reading | None:
        """The options whose texts occur in what was said, in its conclusion if there are several."""
        keys = self._occurring(text)
        if len(keys) == len(self._options) > 2:  # All options may be told first.
            others = (sentence for sentence in sentences(text) if self._occurring(sentence) != keys)
            keys = self._occurring(" ".join(s for s in others if len(self._occurring(s)) < len(keys))) or keys
        closing = concluding(text) if len(keys) > 1 else None
        keys = (closing and self._occurring(closing)) or keys
        return _Reading(keys, "text") if keys else None

    def _occurring(self, text: str) -> tuple[str, ...]:
        """The options whose texts occur, but for those inside a longer one and those denied."""
        said = text if self._say_no else _NO.sub(" ", text)
        normal = f" {normalize(said)} "
        spans = [
            (found.start(), found.end(), key)
            for key, option in self._texts.items()
            if not is_common(option) and polarity(option) is None
            for found in re.finditer(bounded(option), normal)
            if not _NEGATED.search(normal, max(0, found.start() - 40), found.start())
            and not _NEGATED_BEHIND.match(normal, found.end())
        ]
        keys = [
            key
            for start, end, key in spans
            if not any(first <= start and end <= last and last - first > end - start for first, last, _ in spans)
        ]
        return tuple(dict.fromkeys(keys))

    def _mentioned(self, text: str, supported: frozenset[str]) -> _Reading | None:
        """The keys that occur; one alone must be said to be the answer, or something must be said about it."""
        keys = self._keys.mentioned(text)
        return _Reading(keys, "parsed") if len(keys) > 1 or supported.intersection(keys) else None


def _why_not(shown: str, options: tuple[KeyedOption, ...]) -> str:
    """Why nothing could be read: a refusal, a text that stops in the middle, or neither."""
    if _REFUSAL.search(shown) and not any(_REFUSAL.search(option.text) for option in options):
        return "refused"
    signs = sum("\u3040" <= sign <= "\u9fff" for sign in shown)
    *before, last = sentences(shown)
    long_enough = len(last.split()) >= (_FEWEST_GOING_ON if before else _FEWEST_WORDS) or signs >= 2 * _FEWEST_WORDS
    if _DANGLING.search(shown) or (long_enough and not _FINISHED.search(shown)):
        return "cut off"
    return "unparsed"
