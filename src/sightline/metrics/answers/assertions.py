"""What a reply asserts: the short texts inside it that can be held against the truth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sightline.metrics.answers.normalization import normalize
from sightline.metrics.answers.reply import (
    concluding,
    corrections,
    plain,
    sentences,
    statements,
    strongest,
    without_thinking,
)

_LONGEST = 600
_FEWEST_WORDS = 4
_VERBOSE = re.IGNORECASE | re.VERBOSE
_CLAUSE = re.compile(
    r"""\s*(?:
    [,，;]?\s*\b(?:because|since|due\ to|based\ on|given\ that|considering
                  |as\ (?:there|it|the|this|shown|seen|can|indicated))\b
    | [,，;]\s*(?:which|where|who|with|so|not|rather\ than|and\ (?:it|this|the|there))\b
    | [,，]\s*(?:in|near|located)\b(?=[^,，;]*$)
    | ,\s*(?P<apposed>the|an?)\b(?=[^,;]*$)
    | \s[-–—]{1,2}\s
    | \s[(] | [（]
    | [,，;；]?(?:因为|由于|根据)
    )""",
    _VERBOSE,
)
_TAKEN_BACK = re.compile(
    r"""\b(?:alternatively|(?:could|might|may|can)\ (?:also\ )?be|possibly|maybe|perhaps|either|wait|actually
    |correction|not\ sure|another\ (?:option|possibility|candidate)|or\ (?:it|maybe|possibly|perhaps|the\ answer))\b
    | \bno, | 或者 | 或许 | 也可能 | 也许 | 还是 | 更正 | 不对""",
    _VERBOSE,
)
_OR = re.compile(r"\bor\b|/|或", re.IGNORECASE)
_LEAD_IN = re.compile(
    r"""
    (?:as\ follows|the\ following)\s*[:：]\s*
    | (?:well|ok|okay|sure|so|thus|therefore|hence)\b[,:]?\s+
    | (?:based\ on|judging\ (?:by|from)|according\ to|looking\ at|from|given)\ [^,，.\n]{1,80}[,，]\s*
    | i(?:'m|\ am)\ not\ (?:\w+\ )?sure,?\ but\s+
    | (?:i\ (?:think|believe|guess|would\ say|am\ confident)|i'd\ say|in\ my\ opinion|it\ (?:seems|appears))
      (?:\ that)?\b,?\s*
    | (?:probably|most\ likely|likely|possibly|perhaps|maybe|clearly|definitely)\b,?\s*
    | (?:it|this|that|these|those|they|he|she|there)(?:'s|’s|'re|\ is|\ are|\ was|\ were)(?=\s)\s*
    | (?:called|named|known\ as|located\ (?:in|at)|taken\ (?:in|at|on|with|by)|made\ by|written\ by|from|in|at|on|by)\s+
      (?!least\b|most\b)
    | 我(?:认为|觉得|想)(?:是|,|，)? | 应该是 | 应为 | 这(?:是|里是) | [它他她]是 | 图中是 | 图片中的?是 | 位于 | 是
    """,
    _VERBOSE,
)
_COPULA = re.compile(
    r"""\s(?:is|are|was|were|equals|shows|depicts|looks\ like|(?:appears|seems|has)\ to\ be|must\ be)\s+
    | (?<=[\u4e00-\u9fff])(?:是|为)""",
    _VERBOSE,
)
# A subject with one of these does not state what its sentence ends with.
_NO_SUBJECT = re.compile(
    r"""\b(?:not|never|whether|if|unless|wrong|incorrect|unlikely|least|possible|option|candidate|one\ of|and|or|but
    |while|whereas|than|could|might|may|unlike)\b | n't | [,;，；] | 不 | 未 | 如果 | 可能 | 之一 | 而""",
    _VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Assertion:
    """What a reply says, in the forms to try; `why_not` where it says nothing that can be held against a truth."""

    candidates: tuple[str, ...]
    why_not: str = ""


def assertion(text: str) -> Assertion:
    """The final answer that the reply marks, else the reply itself, each with what can be left off it."""
    reply = without_thinking(text)
    shown = plain(reply.text).strip()
    if not shown:
        return Assertion((), why_not="cut off while thinking" if reply.cut else "empty")
    final = strongest(statements(shown), shown)
    if not final:
        closing = concluding(shown)
        return Assertion(_unique([*_forms(shown), *(_forms(closing) if closing else ())]))
    if corrected := corrections(shown, final[-1].start):
        return Assertion(_unique(_forms(corrected[-1])), why_not="" if corrected[-1] else "taken back")
    said = final[-1].content
    if any(not _agree(other.content, said) for other in final[:-1]):
        return Assertion((), why_not="two different final answers")
    return Assertion(_unique(_forms(said)))


def _agree(first: str, second: str) -> bool:
    """Whether one statement is the other, or the other with more words."""
    one, other = sorted((normalize(_heads(content)[-1]) for content in (first, second)), key=len)
    return f" {one} " in f" {other} " or (not one.isascii() and one in other)


def _forms(content: str) -> list[str]:
    """The content, its beginnings that stand alone, and what these say once their subject is left off."""
    heads = [head for head in _heads(content) if len(head) <= _LONGEST]
    return [form for head in heads for form in (head, *_bare(head))]


def _heads(content: str) -> list[str]:
    """The content as it is, its first sentence, and that up to its first explaining clause."""
    heads = [content.strip()]
    first = (*sentences(content), "")[0]
    rest = content.strip()[len(first) :].strip()
    if first and rest and _explains(rest):
        heads.append(first)
    for clause in _CLAUSE.finditer(heads[-1]):
        head, rest = heads[-1][: clause.start()].strip(), heads[-1][clause.start() :]
        listed = clause["apposed"] and not head.rpartition(" ")[2][:1].isupper()  # "the cat, the dog"
        if head and not listed and not _TAKEN_BACK.search(rest) and not _OR.search(rest):
            heads.append(head)
            break
    return heads


def _explains(rest: str) -> bool:
    """Whether what follows an answer is prose about it, not another answer or a change of mind."""
    first = (*sentences(rest), "")[0]
    long_enough = len(first.split()) >= _FEWEST_WORDS or sum("\u4e00" <= sign <= "\u9fff" for sign in first) >= 6
    return long_enough and not _TAKEN_BACK.search(rest)


def _bare(text: str) -> Iterator[str]:
    """The text without what leads in to it, then without a plain subject: "The city is Paris" → "Paris"."""
    current = text
    while found := _LEAD_IN.match(current):
        current = current[found.end() :]
        yield current
    for copula in _COPULA.finditer(text):
        if not _NO_SUBJECT.search(text, 0, copula.start()):
            tail = text[copula.end() :]
            yield tail
            if found := _LEAD_IN.match(tail):
                yield tail[found.end() :]
    if "=" in text:
        yield text.rpartition("=")[2].strip()


def _unique(texts: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text.strip()))
