"""Whether a reply gives the right answer, decided by rules, and why; answers of several parts are matched part by part.

Parts are written as "A; B and C", "1. x 2. y" or 甲、乙和丙.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sightline.metrics.answers.assertions import Assertion, assertion
from sightline.metrics.answers.dates import find_dates, parse_date, same_date
from sightline.metrics.answers.normalization import fold, leading_polarity, normalize, polarity, same_text
from sightline.metrics.answers.numerals import find_numbers
from sightline.metrics.answers.quantities import find_quantities, parse_quantity, same_quantity
from sightline.metrics.answers.spellings import clock, same_spelling, with_digits
from sightline.types import Answer

_CIRCLED = re.compile("[①-⑳]")
_MARKER = re.compile(r"(?:^|(?<=[\s;,，；。]))[(]?(?P<number>\d{1,2})(?:[.)、:](?!\d)|\s*[)])\s*")
_BULLET = re.compile(r"^\s*[-*•·]\s+", re.MULTILINE)
_STRONG = re.compile(r"\s*[;\n、]\s*(?:and\s+)?")
_AND = re.compile(
    r"\s+(?:and|as well as)\s+|\s*&\s*|(?<=[\u4e00-\u9fff]{2})(?:以及|和|与|及)(?=[\u4e00-\u9fff]{2})", re.I
)
_WEAK = re.compile(rf"\s*,(?!\d)\s*(?:and\s+)?|{_AND.pattern}", re.IGNORECASE)
_BRACKETED = re.compile(r"[(\[]([^()\[\]]+)[)\]]\.?")
FORMS: tuple[Form, ...] = ("exact", "normalised", "yes/no", "numeric", "date", "parts")
_DENIED = re.compile(
    r"\b(?:not|never|neither|nor|cannot|without|either)\b|n't\b|\bor\b(?! (?:more|less|fewer|so)\b)|不|没|并非|或|还是",
    re.IGNORECASE,
)
_NAME_BEFORE = re.compile(r"\S.*\s[A-Z][a-z]+ $", re.DOTALL)
_NOTE = re.compile(r"^(?P<outside>.*\S)\s*(?:\s[(]|[（])(?P<inside>[^()（）]+)[)）]\.?$", re.DOTALL)
_NUMBERING = re.compile(r"[\divxlc.,\s]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AnswerParts:
    """The parts of an answer; their order counts if they are numbered or a bracketed tuple."""

    items: tuple[str, ...]
    ordered: bool = False


def split_parts(text: str) -> AnswerParts:
    """An answer's parts; one that is no list has one part.

    Numbers 1, 2, … win over semicolons and lines, and these over commas; "and" separates at every level, but for
    numbered items. A date, a number or a name with a comma before digits stays whole.
    """
    text = fold(_CIRCLED.sub(lambda found: f" {ord(found[0]) - ord('①') + 1}. ", text)).strip()
    numbered = _numbered(text)
    if numbered:
        return AnswerParts(numbered, ordered=True)
    bracketed = _BRACKETED.fullmatch(text)
    if bracketed is not None:
        items = _cut(bracketed[1], _WEAK)
        return AnswerParts(items, ordered=True) if len(items) > 1 else AnswerParts((text,))
    text = _BULLET.sub("", text)
    items = _cut(text, _STRONG)
    if len(items) == 1:
        return AnswerParts(_cut(text, _WEAK) or (text,))
    return AnswerParts(tuple(part for item in items for part in _cut(item, _AND)))


def count_right(truth: AnswerParts, said: Sequence[str], same: Callable[[str, str], bool]) -> int:
    """How many parts of the truth were said: place by place if ordered, else each at most once."""
    if truth.ordered:
        return sum(same(true, other) for true, other in zip(truth.items, said, strict=False))
    edges = [[place for place, other in enumerate(said) if same(true, other)] for true in truth.items]
    taken: dict[int, int] = {}
    return sum(_augment(part, edges, taken, set()) for part in range(len(edges)))


def _augment(part: int, edges: Sequence[Sequence[int]], taken: dict[int, int], seen: set[int]) -> bool:
    """Finds a place for a part, moving others if need be (largest matching by augmenting paths)."""
    for place in edges[part]:
        if place not in seen:
            seen.add(place)
            if place not in taken or _augment(taken[place], edges, taken, seen):
                taken[place] = part
                return True
    return False


def _numbered(text: str) -> tuple[str, ...]:
    """The items of "1. x 2. y": markers that count up from 1 and begin with the text."""
    wanted, marks = 1, []
    for mark in _MARKER.finditer(text):
        if int(mark["number"]) == wanted:
            marks.append(mark)
            wanted += 1
    if len(marks) < 2 or text[: marks[0].start()].strip():
        return ()
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return tuple(text[mark.end() : end].strip(" \n;,.") for mark, end in zip(marks, ends, strict=True))


def _cut(text: str, separator: re.Pattern[str]) -> tuple[str, ...]:
    """The pieces between separators that are not inside a date or a number."""
    whole = [(found.start, found.end) for found in find_dates(text)]
    whole += [(found.start, found.end) for found in find_numbers(text)]
    pieces, start = [], 0
    for mark in separator.finditer(text):
        if not any(first < mark.end() and mark.start() < last for first, last in whole):
            pieces.append(text[start : mark.start()])
            start = mark.end()
    pieces.append(text[start:])
    return tuple(piece.strip() for piece in pieces if piece.strip(" .,;"))


Form: TypeAlias = Literal["exact", "normalised", "yes/no", "numeric", "date", "parts"]


@dataclass(frozen=True, slots=True)
class MatchResult:
    """A verdict: whether the reply is right, by which rule (or why not), and with what against what."""

    matched: bool
    how: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Accepted:
    """One text that counts as right, and whose it is: the answer's own, an alias's or a language's."""

    text: str
    source: str


def accepted(truth: Answer) -> tuple[Accepted, ...]:
    """Every text that counts as right; a note in brackets may be left out, and counts alone if in another script."""
    given = _given(truth)
    noted = [Accepted(text, right.source) for right in given for text in _without_note(right.text)]
    return tuple(dict.fromkeys((*given, *noted)))


def _given(truth: Answer) -> list[Accepted]:
    texts = [
        Accepted(truth.text, "answer"),
        *(Accepted(alias, "alias") for alias in truth.aliases),
        *(Accepted(text, f"translation ({language})") for language, text in truth.translations.items()),
    ]
    return [right for right in texts if right.text.strip()]


def match_answer(truth: Answer, text: str) -> MatchResult:
    """Whether `text` gives the right answer by any rule: exact, normalised, yes/no, numeric, date or all parts.

    What is held against the truth is the final answer that the reply marks; without a mark, the whole reply or a
    beginning of it that stands alone. An answer that only occurs among others, or with "or", is not right.

    Parameters
    ----------
    truth:
        The right answer, with its aliases and tolerance.
    text:
        The reply of a model.

    Returns
    -------
    MatchResult
        `matched`, the rule that decided, and what was compared.

    Examples
    --------
    >>> import sightline
    >>> from sightline import Answer
    >>> sightline.match_answer(Answer("12 km"), "It is 12,000 meters away.").matched
    True
    """
    said = assertion(text)
    for form in FORMS:
        result = match_form(truth, text, form, said)
        if result.matched:
            return result
    return MatchResult(False, said.why_not or "different", _shown(said))


def match_form(truth: Answer, text: str, form: Form, said: Assertion | None = None) -> MatchResult:
    """The verdict of one rule alone."""
    said = assertion(text) if said is None else said
    for right in _given(truth) if form == "exact" else accepted(truth):
        detail = _exact(right, text) if form == "exact" else _first(right, said, truth, form)
        if detail is not None:
            return MatchResult(True, form, f"{detail} [{right.source}]")
    return MatchResult(False, said.why_not or "different", _shown(said))


def share_of_parts(truth: Answer, text: str) -> float:
    """Right parts over the parts of the truth, or of the reply where that has more; the best accepted text counts."""
    if match_answer(truth, text).matched:
        return 1.0
    said = assertion(text)
    shares = (_share(right.text, candidate, truth) for right in accepted(truth) for candidate in said.candidates)
    return max(shares, default=0.0)


def has_form(truth: Answer, form: Form) -> bool:
    """Whether the rule has anything to say of this truth: is it a number, a date, a yes or no?"""
    checks: dict[str, Callable[[str], bool]] = {
        "numeric": lambda text: parse_quantity(with_digits(text), truth.unit) is not None,
        "date": lambda text: parse_date(text) is not None,
        "yes/no": lambda text: polarity(text) is not None,
    }
    return form not in checks or any(checks[form](right.text) for right in accepted(truth))


def _first(right: Accepted, said: Assertion, truth: Answer, form: Form) -> str | None:
    rules: dict[str, Callable[[str, str, Answer], str | None]] = {
        "normalised": _normalised,
        "yes/no": _yes_no,
        "numeric": _numeric,
        "date": _date,
        "parts": _parts,
    }
    found = (rules[form](right.text, candidate, truth) for candidate in said.candidates)
    return next((detail for detail in found if detail is not None), None)


def _exact(right: Accepted, text: str) -> str | None:
    return f'"{right.text}"' if text.strip() == right.text.strip() else None


def _normalised(right: str, said: str, truth: Answer) -> str | None:
    if same_text(right, said):
        return f'"{normalize(right)}"'
    numeric = parse_quantity(with_digits(right), truth.unit) is not None and not clock(right)
    return f'"{said}" spells {right}' if not numeric and same_spelling(right, said) else None


def _yes_no(right: str, said: str, truth: Answer) -> str | None:
    wanted = polarity(right)
    if wanted is None or leading_polarity(said) != wanted:
        return None
    return f'"{said}" says {"yes" if wanted else "no"}'


def _numeric(right: str, said: str, truth: Answer) -> str | None:
    said = with_digits(said)
    wanted = parse_quantity(with_digits(right), truth.unit)
    found = find_quantities(said)
    if wanted is None or not found or (parse_quantity(said) is None and _unsure(said, found[0].start)):
        return None
    if not all(same_quantity(wanted, quantity, truth.tolerance) for quantity in found):
        return None
    allowed = "" if truth.tolerance is None else f" within {truth.tolerance:g}"
    return f'"{said}" is {right}{allowed}'


def _date(right: str, said: str, truth: Answer) -> str | None:
    wanted, found = parse_date(right), find_dates(said)
    if wanted is None or not found or _DENIED.search(said):
        return None
    return f'"{said}" is {right}' if all(same_date(wanted, mention) for mention in found) else None


def _parts(right: str, said: str, truth: Answer) -> str | None:
    count = len(split_parts(right).items)
    return f"all {count} parts" if count > 1 and _share(right, said, truth) == 1.0 else None


def _share(right: str, said: str, truth: Answer) -> float:
    wanted, found = split_parts(right), split_parts(said)
    if parse_quantity(right) is not None or parse_date(right) is not None:
        return 0.0
    most = max(len(wanted.items), len(found.items), 1)
    return count_right(wanted, found.items, lambda part, other: _same_part(part, other, truth)) / most


def _same_part(part: str, said: str, truth: Answer) -> bool:
    rules = (_normalised, _yes_no, _numeric, _date)
    return any(rule(part, said, truth) is not None for rule in rules)


def _unsure(said: str, start: int) -> bool:
    """Whether a sentence denies its number, gives alternatives, or has it in a name (the Apollo 11 launch)."""
    return _DENIED.search(said) is not None or _NAME_BEFORE.match(said[:start]) is not None


def _without_note(text: str) -> Iterator[str]:
    """ "Mount Fuji (富士山)" → "Mount Fuji", "富士山"."""
    found = _NOTE.match(text.strip())
    if found is not None and not _NUMBERING.fullmatch(found["inside"]):
        yield found["outside"]
        if found["outside"].isascii() != found["inside"].isascii():
            yield found["inside"]


def _shown(said: Assertion) -> str:
    return f'"{said.candidates[0]}"' if said.candidates else ""
