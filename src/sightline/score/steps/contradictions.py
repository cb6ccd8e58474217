"""Contradictions between two steps that speak of the same thing: heuristics on words, in English and Chinese.

Found: another number of the same noun, another colour of the same noun, an opposite in place of a word (left for
right), a relation with its sides swapped, and a sentence that denies what the other affirms. Not found: what needs
knowledge or more than a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sightline.score.answers.reply import sentences
from sightline.score.steps.opposites import SIDES, may_oppose, on_other_sides, opposed
from sightline.score.steps.wording import (
    ARTICLES,
    COLOURS,
    LINKS,
    NEGATIONS,
    PREPOSITIONS,
    is_content,
    is_denied,
    singular,
    subject_words,
    tokens_of,
)

ContradictionKind: TypeAlias = Literal["number", "colour", "opposite", "negation"]

_NUMBERED = frozenset({"image", "picture", "photo", "figure", "frame", "step", "option", "panel", "图"})
_JOINED = frozenset({"and", "or", "和"})
_ABOUT = frozenset({"about", "around", "approximately", "roughly", "nearly", "almost", "over", "perhaps", "maybe"})
_BOUNDS = frozenset(
    {("at", "least"), ("at", "most"), ("more", "than"), ("less", "than"), ("fewer", "than"), ("up", "to")}
)
_SAME_SENTENCE = 0.6


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What kind of conflict, and the words on each side that make it."""

    kind: ContradictionKind
    reference: str
    predicted: str


@dataclass(frozen=True, slots=True)
class _Attribute:
    """A number or a colour, and the words that may be what it belongs to."""

    value: str
    nouns: tuple[str, ...]

    def shares_noun(self, other: _Attribute) -> bool:
        """The same first word, or one's first as another of the other's: "car" and "sports car"."""
        if not self.nouns or not other.nouns:
            return False
        return self.nouns[0] in other.nouns or other.nouns[0] in self.nouns


def find_contradictions(reference: str, predicted: str) -> tuple[Contradiction, ...]:
    """Every conflict found between two texts; each noun, pair of opposites and pair of sentences at most once."""
    first, second = tokens_of(reference), tokens_of(predicted)
    found = [
        *_conflicts("number", _numbers, first, second),
        *_conflicts("colour", _colours, first, second),
    ]
    if may_oppose(first, second):
        pairs = opposed(sentences(reference), sentences(predicted))
        found += [Contradiction("opposite", one, other) for one, other in pairs]
    if not NEGATIONS.isdisjoint(first) or not NEGATIONS.isdisjoint(second):
        found += _denials(reference, predicted)
    beside = found and not SIDES.isdisjoint(first) and not SIDES.isdisjoint(second)
    if beside and len(sentences(reference)) == len(sentences(predicted)) == 1 and _of_others(found, first, second):
        return ()
    return tuple(found)


def _of_others(found: Sequence[Contradiction], first: Sequence[str], second: Sequence[str]) -> bool:
    """Do two sentences speak of two things that are told apart by the side they are on?

    "The man on the left wears a hat" and "The man on the right wears a hat", or "On the left is a red car" and "On the
    right is a blue car".
    """
    elsewhere = any(one.kind == "opposite" and one.reference in SIDES for one in found)
    return on_other_sides(first, second) or (elsewhere and any(one.kind in ("number", "colour") for one in found))


def _next_nouns(tokens: Sequence[str], place: int) -> tuple[str, ...]:
    """The content words after an attribute ("red hot-air balloon"), at most three: one is what it belongs to."""
    nouns: list[str] = []
    for at in range(place + 1, min(place + 8, len(tokens))):
        token = tokens[at]
        if token in COLOURS or token in ("的", "色") or (not nouns and _joins_colours(tokens, at)):
            continue
        if len(nouns) == 3 or not is_content(token):
            break
        nouns.append(singular(token))
    return tuple(nouns)


def _joins_colours(tokens: Sequence[str], place: int) -> bool:
    """Of "red and white stripes", both belong to the stripes."""
    return tokens[place] in _JOINED and place + 1 < len(tokens) and tokens[place + 1] in COLOURS


def _numbers(tokens: Sequence[str]) -> Iterator[_Attribute]:
    """How many of what; "picture 2" is a name, not a count, and "at least three" may be five."""
    for place, token in enumerate(tokens):
        if token[0] != "#":
            continue
        named = place > 0 and singular(tokens[place - 1]) in _NUMBERED
        if not named and not is_denied(tokens, place) and not _is_bound(tokens, place):
            yield _Attribute(token.strip("#"), _next_nouns(tokens, place))


def _is_bound(tokens: Sequence[str], place: int) -> bool:
    return place > 0 and (tokens[place - 1] in _ABOUT or tuple(tokens[max(0, place - 2) : place]) in _BOUNDS)


def _colours(tokens: Sequence[str]) -> Iterator[_Attribute]:
    """What has which colour, before it ("red car") or after it ("the car is red")."""
    if COLOURS.isdisjoint(tokens):
        return
    for place, token in enumerate(tokens):
        if token in COLOURS and not is_denied(tokens, place):
            yield _Attribute(token, _next_nouns(tokens, place) or _linked_noun(tokens, place))


def _linked_noun(tokens: Sequence[str], place: int) -> tuple[str, ...]:
    """What is said to be of this colour: the stripes of "the stripes are red and white", the mug of "the mug on the
    table is red"."""
    at = place - 1
    while at > 0 and (tokens[at] in COLOURS or tokens[at] in _JOINED):
        at -= 1
    if at < 1 or tokens[at] not in LINKS or not is_content(tokens[at - 1]):
        return ()
    at -= 1
    while (before := _before_phrase(tokens, at)) is not None:
        at = before
    return (singular(tokens[at]),)


def _before_phrase(tokens: Sequence[str], noun: int) -> int | None:
    """The place of the noun before a preposition, where one stands before this noun."""
    at = noun - 1
    while at >= 0 and tokens[at] in ARTICLES:
        at -= 1
    return at - 1 if at >= 1 and tokens[at] in PREPOSITIONS and is_content(tokens[at - 1]) else None


def _conflicts(
    kind: ContradictionKind,
    find: Callable[[Sequence[str]], Iterator[_Attribute]],
    first: Sequence[str],
    second: Sequence[str],
) -> Iterator[Contradiction]:
    """Attributes of one noun on both sides with no value in common; the same values in conflict count once."""
    reference = [*find(first)]
    predicted = [*find(second)] if reference else []
    seen: set[tuple[frozenset[str], frozenset[str]]] = set()
    for attribute in reference:
        wanted = frozenset(one.value for one in reference if attribute.shares_noun(one))
        said = frozenset(other.value for other in predicted if attribute.shares_noun(other))
        if wanted and said and not wanted & said and (wanted, said) not in seen:
            seen.add((wanted, said))
            noun = attribute.nouns[0]
            yield Contradiction(kind, f"{'/'.join(sorted(wanted))} {noun}", f"{'/'.join(sorted(said))} {noun}")


def _denials(reference: str, predicted: str) -> Iterator[Contradiction]:
    """Two sentences of the same words, one of them denied."""
    said = [(other, *_asserted(other)) for other in sentences(predicted)]
    for one in sentences(reference):
        words, denied = _asserted(one)
        for other, others, also in said:
            if denied != also and len(words & others) >= _SAME_SENTENCE * len(words | others) > 0:
                yield Contradiction("negation", one, other)
                break


def _asserted(sentence: str) -> tuple[set[str], bool]:
    """The words of a sentence that matter, and whether it denies something."""
    tokens = tokens_of(sentence)
    return {*subject_words(tokens), *COLOURS.intersection(tokens)}, not NEGATIONS.isdisjoint(tokens)
