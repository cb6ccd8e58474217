"""Filters: why a reply is not a good trace (a refusal, repetition, wrong language, …); runaway text is cut."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from sightline.metrics.text.tokens import word_tokens
from sightline.reason.traces.language import speaks
from sightline.reason.traces.records import CUT_OFF, TeacherReply, TraceRules

_Q = "['\u2019]"
_SORRY = (
    rf"(?:(?:i(?: am|{_Q}m) )?(?:very |so |really |truly |terribly )?sorry\b|(?:my (?:sincere )?)?apologies\b"
    rf"|(?:i (?:do |must |sincerely )?)?apologi[sz]e\b|unfortunately\b|regrettably\b|i regret\b"
    rf"|i(?: am|{_Q}m) afraid\b)"
)
_UNABLE = (
    rf"i(?: can(?:no|{_Q})t| could(?: not|n{_Q}t)|(?: am|{_Q}m) (?:unable|not able|not allowed|not permitted) to"
    rf"| won{_Q}t(?: be able to)?| will not(?: be able to)?| would rather not| (?:must|have to) decline to"
    rf"|(?:{_Q}d| would)? prefer not to| do(?: not|n{_Q}t) feel comfortable(?: with)?"
    rf"|(?: am|{_Q}m) not comfortable(?: with)?)(?: \w+ly)?"
)
_SERVES = r"(?:help|assist|comply|fulfil\w*|engage|continue|do|proceed)\b(?! (?:but|\w+ing)\b)"
_SEES = r"(?:view|see|open|access|look at|load|display)\w*"
_TELLS = (
    r"(?:describ|analy[sz]|identif|process|interpret|provid|shar|giv|discuss|generat|answer|complet|recogni[sz]|examin"
    r"|perform|creat|nam)\w*"
)
_A = r"(?:(?:any|the|this|your|that|an?|these|those|such) )?(?:(?!of\b|in\b|on\b|at\b|if\b|whether\b)[\w-]+ )?"
_PICTURE = r"(?:images?|pictures?|photo(?:graph)?s?|files?|attachments?|visuals?|content|that|this|it|them)\b"
_SUBJECT = (
    r"(?:requests?|questions?|people|persons?|individuals?|anyone|faces?|identit(?:y|ies)|descriptions?|details"
    r"|information|analys[ei]s|assistance|names?|you|who)\b"
)
_DECLINES = re.compile(
    rf"\W*(?:{_SORRY}[^\n]{{0,60}}?\b)?{_UNABLE} "
    rf"(?:{_SERVES}|{_SEES} {_A}{_PICTURE}|{_TELLS} {_A}(?:{_PICTURE}|{_SUBJECT}))(?P<rest>[^\n]{{0,300}})",
    re.IGNORECASE,
)
_IMAGE = "(?:image|picture|photo)"
_SHARED = r"(?:attached|provided|here|uploaded|included|shared|in your)\b"
_PLAINLY = re.compile(
    rf"\W*(?:{_SORRY}[,\s]+(?:but\s+)?)?(?:it (?:seems|looks|appears) (?:like |that |as if )?)?(?:"
    + "|".join(
        (
            rf"(?:as|i(?: am|{_Q}m)(?: just| only| merely)?) an? (?:[\w-]+ ){{0,3}}?"
            r"(?:ai|language model|llm|assistant,? i)\b(?!-)[^.\n]{0,80}?"
            rf"\b(?:can(?:no|{_Q})t|not|unable|don{_Q}t|no|lack)\b",
            rf"i (?:do not|don{_Q}t) (?:have|possess) (?:the |any )?(?:ability|capabilit|access to|permission|eyes)",
            r"i (?:have no|lack the) (?:ability|capabilit|way to|access to|means)",
            rf"(?:there(?: is| was|{_Q}s) no|i (?:do not|don{_Q}t|can(?:no|{_Q})t) see (?:any|an)|no) {_IMAGE}s? "
            rf"(?:(?:is|was|were|has been|have been|seems to be) )?{_SHARED}",
            rf"you (?:forgot|haven{_Q}t|have not|did not|didn{_Q}t) [^.\n]{{0,40}}?{_IMAGE}",
            rf"(?:please|could you) (?:please )?(?:upload|attach|provide|share|send) [^.\n]{{0,30}}?{_IMAGE}",
            rf"(?:this|your|the) (?:(?:request|content|image|picture) (?:violates|goes against|is against)"
            rf"|{_IMAGE} (?:contains|includes|has) [^.\n]{{0,30}}?content (?:that |which )?{_UNABLE}"
            rf"|{_IMAGE} (?:can(?:no|{_Q})t|could(?: not|n{_Q}t)) be "
            r"(?:displayed|loaded|opened|viewed|accessed|processed|shown)"
            r"(?= ?(?:$|[.,;!\n]|at th|because|due to|right now|properly|correctly)))",
            rf"(?:it(?: is|{_Q}s)|this is|that is) against (?:my|our) (?:[\w-]+ )?"
            r"(?:guideline|polic|rule|programming)",
            r"[^。\n]{0,6}(?:抱歉|对不起|不好意思)[^。\n]{0,16}(?:无法|不能|没办法)",
            r"我(?:无法|不能|没办法)(?:提供|描述|查看|协助|帮助|回答|识别|看到)",
            r"作为(?:一[个名])?(?:人工智能|ai|语言模型|大?模型)[^。\n]{0,20}(?:无法|不能|没有)",
            r"(?:lo siento|perdón)[^.\n]{0,20}\bno puedo",
            r"(?:je suis )?désolée?\b[^.\n]{0,30}\bne (?:peux|suis)",
            r"es tut mir leid[^.\n]{0,20}\bkann",
            r"mi dispiace[^.\n]{0,20}\bnon (?:posso|sono)",
            r"(?:desculpe|sinto muito|lamento)[^.\n]{0,20}\bnão (?:posso|consigo)",
            r"(?:извините|к сожалению)[^.\n]{0,20}не могу",
            r"申し訳[^。\n]{0,30}(?:できません|できかねます)",
        )
    )
    + ")",
    re.IGNORECASE,
)
# All the same, something is said of the picture then: more than what could be done instead.
_YET = re.compile(
    r"(?:,? but|[.;,] ?(?:but|however|still|nevertheless|though),?|, though,?) "
    rf"(?!i\b|if\b|please\b|feel free|you\b|let me|we\b|happy\b|would\b)(?:[\w-]+(?:{_Q}s)?[ .,]+){{3}}",
    re.IGNORECASE,
)
_BEGINNING = 600
_WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\\W_]+")
_STUTTER = re.compile(r"(\S{1,6}?)\1{39,}")
_STUTTER_LENGTH = 40
_GRAM = 4
_LONG_GRAM = 8
_ROUNDS = 3
"""A passage said once and then so many times more, without a break, is a loop."""
_SHORTEST_LOOP = 24
"""Words that a loop has at least: "very, very, very" is none."""
REASONS = {
    "short": "the answer has too few words",
    "runaway": "thinking and answer have too many words; cut",
    "repetition": "it goes round in circles; cut where it begins to",
    "truncated": "it ended at the limit of tokens",
    "refusal": "the teacher declined",
    "markup": "it begins with unknown tags, so that thinking and answer can't be told apart",
    "language": "thinking or answer is in another language",
    "no-thinking": "there is an answer without thinking",
    "contradicted": "it denies the picture's label, or contradicts a fact that is known of it",
    "unsupported": "it does not name the picture's class, and nothing else that is known speaks for it",
    "inconsistent": "its thinking contradicts half of its answer",
    "ungrounded": "who looked at the picture confirmed too few of its claims",
    "low-quality": "its quality is below what was asked for",
    "duplicate": "nearly the same was said before",
}
"""Why a reply is not kept as a trace."""
_TEMPLATE_MARK = re.compile(r"<\|/?[A-Za-z][\w /:-]{1,40}\|>")
_TAGGED = re.compile(r"\s*<(?P<name>[A-Za-z][\w:-]{1,40})(?:\s[^<>]{0,200})?>(?P<inside>.*?)</(?P=name)>", re.DOTALL)
_LINE = 40
"""Letters from which on what stands in tags is more than a word that is set off."""


def is_refusal(answer: str) -> bool:
    """Does the answer begin with a refusal?"""
    start = answer[:_BEGINNING]
    if _PLAINLY.match(start):
        return True
    found = _DECLINES.match(start)
    return found is not None and _YET.search(found["rest"]) is None


@dataclass(frozen=True, slots=True)
class Repetition:
    """`cut` is where in the text the first loop has gone round once (None: there is none).

    `repeated` = 1 − distinct 8-grams / 8-grams of words; 0 for a text of fewer than 16 words.
    """

    words: int
    repeated: float
    cut: int | None


def find_repetition(text: str) -> Repetition:
    """One pass over the words; a CJK character is a word."""
    words = word_tokens(text) if text.isascii() else [word.lower() for word in _WORD.findall(text)]
    cut = _stutter(text) if _has_long_word(text) else None
    if len(set(_grams(words, _GRAM))) > len(words) - _GRAM:  # Nothing was said twice.
        return Repetition(len(words), 0.0, cut)
    eights = max(0, len(words) - _LONG_GRAM + 1)
    repeated = 1 - len(set(_grams(words, _LONG_GRAM))) / eights if eights > _LONG_GRAM else 0.0
    start = _loop(words)
    if start is not None:
        again = next(islice(_WORD.finditer(text), start, None)).start()
        cut = again if cut is None else min(cut, again)
    return Repetition(len(words), repeated, cut)


def _stutter(text: str) -> int | None:
    """Where letters begin to repeat without a space, as in "hahahaha…"."""
    found = _STUTTER.search(text)
    return None if found is None else found.end(1)


def _has_long_word(text: str) -> bool:
    """Is there a stretch without a blank that is long enough to stutter? Looks from blank to blank, back from afar."""
    at = _STUTTER_LENGTH
    while at <= len(text):
        blank = text.rfind(" ", at - _STUTTER_LENGTH, at)
        if blank < 0:
            return True
        at = blank + 1 + _STUTTER_LENGTH
    return False


def _grams(words: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    return zip(*[words[place:] for place in range(size)], strict=False)


def _loop(words: Sequence[str]) -> int | None:
    """The word at which the first loop begins its second round: the same words at one distance, for long enough."""
    last: dict[tuple[str, ...], int] = {}
    looked: dict[int, int] = {}  # By distance, how far the words were compared.
    for place, gram in enumerate(_grams(words, _GRAM)):
        before = last.get(gram)
        last[gram] = place
        if before is None:
            continue
        period = place - before
        if place < looked.get(period, 0):
            continue
        end = place
        while end < len(words) and words[end] == words[end - period]:
            end += 1
        looked[period] = end
        while place > period and words[place - 1] == words[place - 1 - period]:
            place -= 1
        if end - place >= max(_ROUNDS * period, _SHORTEST_LOOP):
            return place
    return None


@dataclass(frozen=True, slots=True)
class FilteredReply:
    """A reply after the filters: its text, cut where it ran away, and every reason not to keep it."""

    thinking: str
    answer: str
    reasons: tuple[str, ...]
    words: int
    repeated: float


def filter_reply(said: TeacherReply, rules: TraceRules) -> FilteredReply:
    """Every filter over one reply."""
    thought, answered = find_repetition(said.thinking), find_repetition(said.answer)
    thinking, answer = _until(said.thinking, thought.cut), _until(said.answer, answered.cut)
    words = thought.words + answered.words
    repeated = max(thought.repeated, answered.repeated)
    reasons = [CUT_OFF[said.finish]] if said.finish in CUT_OFF else []
    if thought.cut is not None or answered.cut is not None or repeated > rules.most_repeated:
        reasons.append("repetition")
    if words > rules.most_words:
        reasons.append("runaway")
        thinking = _first_words(thinking, rules.most_words)
        answer = _first_words(answer, rules.most_words)
    if answered.words < rules.least_words:
        reasons.append("short")
    if is_refusal(said.answer):
        reasons.append("refusal")
    if is_marked_up(said.answer) or _TEMPLATE_MARK.search(said.thinking):
        reasons.append("markup")
    if rules.language is not None and not (speaks(rules.language, thinking) and speaks(rules.language, answer)):
        reasons.append("language")
    if rules.needs_thinking and not thinking:
        reasons.append("no-thinking")
    return FilteredReply(thinking, answer, tuple(dict.fromkeys(reasons)), words, repeated)


def is_marked_up(answer: str) -> bool:
    """Is a mark of a template in it, or does it begin with a line or most of it in a pair of tags that nobody knows?"""
    if "<" not in answer:
        return False
    tagged = _TAGGED.match(answer)
    if tagged is not None and len(tagged["inside"]) > min(_LINE, len(answer) // 2):
        return True
    return _TEMPLATE_MARK.search(answer) is not None


def _until(text: str, cut: int | None) -> str:
    return text if cut is None else text[:cut].rstrip()


def _first_words(text: str, most: int) -> str:
    pieces = text.split(maxsplit=most)
    return text if len(pieces) <= most else " ".join(pieces[:most])
