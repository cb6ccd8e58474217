"""Reading a model's reply: thinking set aside, mark-up unwrapped, the places found where it says what its answer is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

_THINKING = re.compile(r"[<◁](?P<close>/?)(?:think|thinking|thoughts?|reasoning|scratchpad)[>▷]", re.IGNORECASE)

_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
# Without one of these there is nothing to unwrap, and most replies have none.
_MARKED = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad\\\\$`*_#>]")
_LATEX_WRAP = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|mathsf|bf|rm)\s*\{([^{}]*)\}")
_LATEX_MATH = re.compile(r"(?<![\\$])\$(?![\s$])([^$\n]{1,120}?)(?<!\s)\$(?![\d$])")
_LATEX_SPACE = re.compile(r"\\[,;:! ]")
_LATEX_FENCE = re.compile(r"\\[()\[\]]")
_MARKDOWN = (
    (re.compile(r"```[a-zA-Z]*\n?"), ""),
    (re.compile(r"\*\*|__(?=\S)|(?<=\S)__|`"), ""),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"^[ \t]{0,3}(?:#{1,6}|>)[ \t]+", re.MULTILINE), ""),
)

_TAG = re.compile(r"<(?:answer|final_?answer|conclusion|option|choice|result)>([^<]*)", re.IGNORECASE)
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")
_LONGEST_BOX = 1000
_JSON = re.compile(
    r"[\"'](?:final[_ ]?answer|correct[_ ]?(?:answer|option)|answer|option|choice|conclusion|prediction)[\"']\s*:\s*"
    r"(?:\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>[^']*)'|(?P<bare>-?[\w.]+))",
    re.IGNORECASE,
)

_ADVERB = r"(?:\s+(?:therefore|thus|hence|clearly|indeed|then|likely|probably|simply|actually|now|here))?"
_NOT_SAID = r"(?!\s*(?:in)?correct\b|\s*right\b|\s*wrong\b)"
_PHRASE = re.compile(
    r"(?P<lead>(?:\b(?:so|thus|hence|therefore|consequently|finally|overall|in\s+conclusion|in\s+summary)\b[,:]?\s+)?)"
    r"(?:\b(?:the|my|your|our)\s+)?(?P<final>(?:\b(?:final|ultimate)\s+)?)"
    r"(?:\b(?:correct|right|best|most\s+likely|chosen|selected|predicted|short)\s+)?"
    r"\b(?:answer|option|choice|solution|conclusion)\b(?:\s+(?:to|for|of|that)\b[^.:?!\n。：]{1,80}?)?"
    rf"(?:{_ADVERB}\s+(?:is|are|was|were|(?:would|should|must|will)(?:\s+therefore)?\s+be)\b{_ADVERB}\s*[:：]?"
    rf"|\s*(?:=>|[:：=→⇒])|\s+[-–—]\s){_NOT_SAID}",
    re.IGNORECASE,
)
_PHRASE_ZH = re.compile(
    r"(?P<lead>(?:(?:因此|所以|综上所述|综上|故而|故|总之|最后)[,，:：]?\s*)?)(?:我的|本题的?|该题的?|问题的)?(?P<final>(?:最终|最后)?)"
    r"(?:正确|最佳|最可能的?)?的?(?:答案|选项|结论)\s*(?:应该是|应该为|应当是|应是|应为|就是|是|为|[:：=])\s*[:：]?"
)
_HEADING = re.compile(
    r"^[ \t]*(?P<lead>)(?:(?:the|my)[ \t]+)?(?P<final>(?:final[ \t]+|最终)?)(?:answer|conclusion|答案|结论)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_CONTENT = re.compile(r"\s*([^\n]{0,1000})")
MOST_STATEMENTS = 50
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|(?<=[。！？])[”」』)]*\s*|\n+")
# The same for one line of ASCII, several times as fast: what it begins with can be looked for at once.
_ASCII_SENTENCE_END = re.compile(r"([.!?])[\"')\]]*\s+")
_CORRECTION = re.compile(
    r"\b(?:wait|actually|correction|on second thou?ghts?|hold on|(?:on|upon) reflection|second look|looking again|"
    r"scratch that|sorry|i was wrong|i made an? (?:mistake|error)|"
    r"let me (?:(?:re|double)-?check|reconsider|correct|rethink))\b|\bno,|"
    r"\b(?:moment(?= mal|,)|nein,|attendez|attends|espere|espera|aspetta|подождите|подожди|стоп)\b|"
    r"いや、|いえ、|잠깐|아니요|更正|不对|等等|等一下|纠正|重新(?:考虑|检查)",
    re.IGNORECASE,
)
_OPENS_CORRECTION = re.compile(rf"\W*(?:(?:oh|hmm+|but|no)\b\W*)?(?:{_CORRECTION.pattern})", re.IGNORECASE)
# A correction that opens a sentence (a few open a clause: "A, no, B"), with all that leads to what is put in its place.
_TAKES_BACK = _CORRECTION.pattern.replace(" ", "[ ]")
_GLUE = r"[\s,，.。:：;；!！…—–-]"
_CORRECTED = re.compile(
    rf"""(?:(?<=[.!?。！？…\n;；—–()}}>])|(?<=\w[,，])(?=\s*(?:wait\b|no\b|不对|等等|等一下)))[ \t]*
    (?:(?:oh|hmm+|but|哦|啊)\b[,，.…\s]*)? (?:{_TAKES_BACK}) (?!\s+(?:for|until|till|to|about)\b)
    (?:{_GLUE}+(?:{_TAKES_BACK}|no\b|i\s+meant?\b
        |(?:that|this|it)(?:'s|\s+is|\s+was)\s+(?:wrong|incorrect|not\s+(?:right|correct))|错了))*
    {_GLUE}*
    (?:(?:i\s+(?:think|believe|mean)\s+)?
       (?:it|that|this|(?:the|my)\s+(?:(?:correct|right|final|best)\s+)?(?:answer|option|choice))
       (?:'s|\s+is|\s+(?:should|must|would|has\s+to)\s+be)(?=\s)[:：]?
     |(?:正确|最终)?的?(?:答案|选项)?(?:应该是|应该选|应当是|应是|应为|应选|是|为|选))?""",
    re.IGNORECASE | re.VERBOSE,
)
_CONNECTED = re.compile(
    r"(?:so|thus|hence|therefore|consequently|in conclusion|in summary|to conclude|overall)\b[,:]?\s*(?P<en>.+)"
    r"|(?:因此|所以|综上所述|综上|故|总之)[,，:：]?\s*(?P<zh>.+)",
    re.IGNORECASE | re.DOTALL,
)


class Strength(IntEnum):
    """How plainly a reply marks its answer; only the strongest marks of a reply are read."""

    PHRASE = 1
    FINAL_PHRASE = 2
    STRUCTURE = 3


@dataclass(frozen=True, slots=True)
class Statement:
    """A place where a reply says what its answer is; `start` is where that begins in the text."""

    content: str
    strength: Strength
    start: int


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply without its thinking; `cut` when the thinking was never closed."""

    text: str
    cut: bool


def without_thinking(text: str) -> Reply:
    """The part of a reply that is addressed to the reader."""
    shown, start, inside = "", 0, False
    for mark in _THINKING.finditer(text):
        if not mark["close"]:
            shown += "" if inside else text[start : mark.start()]
            inside = True
        elif inside:
            inside = False
        else:  # The opening mark was part of the prompt: all before this was thinking.
            shown = ""
        start = mark.end()
    return Reply((shown if inside else shown + text[start:]).strip(), cut=inside)


def plain(text: str) -> str:
    """The words without Markdown, LaTeX wrappers and invisible characters; a currency's `$` stays."""
    if _MARKED.search(text) is None:
        return text
    text = _INVISIBLE.sub("", text)
    for _ in range(3):
        text = _LATEX_WRAP.sub(r"\1", text)
    text = _LATEX_FENCE.sub("", _LATEX_SPACE.sub(" ", text))
    text = _LATEX_MATH.sub(r"\1", text).replace("\\%", "%").replace("\\$", "$")
    for pattern, replacement in _MARKDOWN:
        text = pattern.sub(replacement, text)
    return text


def statements(text: str) -> tuple[Statement, ...]:
    """The (last fifty) places where a plain text marks its answer, in order; structure hides phrases."""
    found = [*_tagged(text), *_boxed(text), *_json(text)] or phrases(text)
    return tuple(sorted(found, key=lambda statement: statement.start)[-MOST_STATEMENTS:])


def phrases(text: str) -> tuple[Statement, ...]:
    """The statements that are made in words: "The answer is …", 答案是…, a heading "Answer"."""
    return tuple(_phrased(text))


def strongest(found: Sequence[Statement], text: str) -> tuple[Statement, ...]:
    """The most plainly marked statements; those before a correction ("Wait, …") are taken back."""
    top = max((statement.strength for statement in found), default=None)
    kept: list[Statement] = []
    for statement in found:
        if statement.strength != top:
            continue
        if kept and _CORRECTION.search(text, kept[-1].start, statement.start):
            kept.clear()
        kept.append(statement)
    return tuple(kept)


def corrections(text: str, start: int) -> tuple[str, ...]:
    """What a reply puts in the place of the answer that it gave at `start`; "" where it only takes it back."""
    marks = [mark for mark in _CORRECTED.finditer(text, start) if re.search(r"\w", text[start : mark.start()])]
    ends = [*(mark.start() for mark in marks), len(text)][1:]
    return tuple(text[mark.end() : end].strip().partition("\n")[0] for mark, end in zip(marks, ends, strict=True))


def takes_back(clause: str) -> bool:
    """Whether a clause opens with a correction: "Wait, …", "no, hold on", 不对."""
    return _OPENS_CORRECTION.match(clause) is not None


def sentences(text: str) -> tuple[str, ...]:
    """Sentences and lines, without the white space around them."""
    if text.isascii() and "\n" not in text:
        pieces = _ASCII_SENTENCE_END.split(text)
        whole = [said + end for said, end in zip(pieces[::2], [*pieces[1::2], ""], strict=True)]
    else:
        whole = _SENTENCE_END.split(text)
    return tuple(filter(None, map(str.strip, whole)))


def concluding(text: str) -> str | None:
    """What follows "so", "therefore", … in the last sentence, if that is how it begins."""
    last = sentences(text)[-1:]
    found = _CONNECTED.match(last[0]) if last else None
    return None if found is None else found["en"] or found["zh"]


def _tagged(text: str) -> Iterator[Statement]:
    for found in _TAG.finditer(text):
        yield from _statement(found[1], Strength.STRUCTURE, found.start(1))


def _boxed(text: str) -> Iterator[Statement]:
    for found in list(_BOXED.finditer(text))[-MOST_STATEMENTS:]:
        yield from _statement(_balanced(text, found.end()), Strength.STRUCTURE, found.end())


def _balanced(text: str, start: int) -> str:
    """The text up to the brace that closes the one just before `start`, or to the end where that is missing."""
    depth, limit = 1, min(len(text), start + _LONGEST_BOX)
    for position in range(start, limit):
        depth += (text[position] == "{") - (text[position] == "}")
        if depth == 0:
            return text[start:position]
    return text[start:limit]


def _json(text: str) -> Iterator[Statement]:
    for found in _JSON.finditer(text):
        group = next(name for name in ("double", "single", "bare") if found[name] is not None)
        yield from _statement(found[group].replace('\\"', '"'), Strength.STRUCTURE, found.start(group))


def _phrased(text: str) -> Iterator[Statement]:
    """Each phrase with what follows it, up to the next phrase or the end of the line."""
    marks = [mark for pattern in (_PHRASE, _PHRASE_ZH, _HEADING) for mark in pattern.finditer(text)]
    marks.sort(key=lambda mark: mark.start())
    ends = [*(mark.start() for mark in marks), len(text)][1:]
    for mark, end in zip(marks, ends, strict=True):
        content = _CONTENT.match(text, mark.end(), max(end, mark.end()))
        strength = Strength.FINAL_PHRASE if mark["lead"] or mark["final"] else Strength.PHRASE
        if content is not None:
            yield from _statement(content[1], strength, mark.end())


def _statement(content: str, strength: Strength, start: int) -> Iterator[Statement]:
    if content.strip(" \t\n,.;:，。；：*"):
        yield Statement(content.strip(), strength, start)
