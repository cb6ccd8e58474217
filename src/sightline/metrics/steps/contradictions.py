"""Contradictions between two steps that speak of the same thing: heuristics on words, in English and Chinese.

Found: another number of the same noun, another colour of the same noun, an opposite in place of a word (left for
right), a relation with its sides swapped, and a sentence that denies what the other affirms. Not found: what needs
knowledge or more than a sentence. First the words of a sentence, with numbers by their value; then opposites; then
numbers, colours and denials.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from sightline.metrics.answers.normalization import fold
from sightline.metrics.answers.numerals import find_numbers
from sightline.metrics.answers.reply import sentences
from sightline.metrics.answers.units import COUNTERS

_TOKEN = re.compile(r"#[^\s#]+#|[^\W\d_\u4e00-\u9fff]+(?:'[a-z]+)?|[\u4e00-\u9fff]|\d+")
# The same for ASCII in lower case, in two thirds of the time.
_ASCII_TOKEN = re.compile(r"#[^\s#]+#|[a-z]+(?:'[a-z]+)?|[0-9]+")
_COUNTED = {"both": "#2#", "single": "#1#", "gray": "grey"}
_REACH = 3
"""Words after a negation that it may deny."""
_MUCH_MORE = 4
"""Common words for each that only one of two sentences has, if they are to speak of the same."""
_NUMBERED = frozenset({"image", "picture", "photo", "figure", "frame", "step", "option", "panel", "图"})
_JOINED = frozenset({"and", "or", "和"})
_ABOUT = frozenset({"about", "around", "approximately", "roughly", "nearly", "almost", "over", "perhaps", "maybe"})
_BOUNDS = frozenset(
    {("at", "least"), ("at", "most"), ("more", "than"), ("less", "than"), ("fewer", "than"), ("up", "to")}
)
_SAME_SENTENCE = 0.6


def words_in(listed: str) -> frozenset[str]:
    """The words of a list with spaces in between."""
    return frozenset(listed.split())


COLOURS = words_in(
    "red blue green yellow black white orange purple pink brown grey gold silver beige turquoise "
    "红 蓝 绿 黄 黑 白 橙 紫 粉 棕 灰 金 银"
)
NEGATIONS = words_in("not no never without neither nor none cannot 不 没 无 未 非")
LINKS = words_in("is are was were be looks look appears appear seems seem 是 为 呈")
ARTICLES = words_in("a an the its his her their this that these those")
PREPOSITIONS = words_in("of in on at with by from near behind beside under above below inside beneath")
_FILLERS = words_in(
    "of in on at to for with by from and or it as there has have had very quite also i we can see "
    "的 色 了 在 有 和 与 也 就 都 着"
)
_HOLDING = _FILLERS | ARTICLES | LINKS | NEGATIONS | COLOURS
_GENERIC = words_in("picture image photo photograph scene visible seen shown show here 图 片")


@lru_cache(maxsize=1_024)
def tokens_of(text: str) -> tuple[str, ...]:
    """Lower-case words and Chinese characters in order; a number is `#value#` in whatever way it was written."""
    text = fold(text)
    for number in reversed(find_numbers(text)):
        text = f"{text[: number.start]} #{number.value}# {text[number.end :]}"
    words = (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text.lower().replace("n't", " not"))
    return tuple([_COUNTED.get(word, word) for word in words if word not in COUNTERS])


def is_content(token: str) -> bool:
    """Does a word name something, or say what it does? Numbers, colours and what holds a sentence together do not."""
    return token not in _HOLDING and not token.startswith("#")


def subject_words(tokens: Sequence[str]) -> frozenset[str]:
    """What a sentence is about: the words that name something, in the singular; that it is a picture goes unsaid."""
    return frozenset(singular(token) for token in tokens if is_content(token)) - _GENERIC


def is_denied(tokens: Sequence[str], place: int) -> bool:
    """Does a negation stand shortly before a word?"""
    return not NEGATIONS.isdisjoint(tokens[max(0, place - _REACH) : place])


def singular(token: str) -> str:
    """The word without the s of a plural or a verb."""
    return token[:-1] if len(token) > 3 and token.endswith("s") and not token.endswith("ss") else token


_WORDS = Path(__file__).with_name("opposites.txt").read_text("utf-8")
_PAIRS = tuple(tuple(pair.split()) for line in _WORDS.splitlines() for pair in line.split("|"))
_BOTH_WAYS = (*_PAIRS, *(pair[::-1] for pair in _PAIRS))
OPPOSITES: Mapping[str, frozenset[str]] = {
    word: frozenset(other for one, other in _BOTH_WAYS if one == word) for pair in _PAIRS for word in pair
}
"""Words that can't both be said of one thing; which of them is true may still depend on what they relate."""
_RELATIONS = words_in("left right front top above below behind under over beneath underneath before after than")
_WITH_OF = words_in("left right front top")
_TELLING = _RELATIONS.union(OPPOSITES)
SIDES = words_in("left right top bottom upper lower front back")
_AT = words_in("on at in to")
_PARTS = words_in("side hand corner half part edge end")


class _Sentence(NamedTuple):
    tokens: tuple[str, ...]
    words: frozenset[str]
    "What it is about."


class Opposed(NamedTuple):
    """The words on either side."""

    one: str
    other: str


def may_oppose(tokens: Sequence[str], others: Sequence[str]) -> bool:
    """A quick look at two texts: is a word here, and its opposite there, or one relation in both?"""
    there = {*others}
    return any(
        (token in _RELATIONS and token in there) or not OPPOSITES.get(token, frozenset()).isdisjoint(there)
        for token in _TELLING.intersection(tokens)
    )


def opposed(first: Sequence[str], second: Sequence[str]) -> Iterator[Opposed]:
    """What sentences of one text oppose in those of another; each pair of words once."""
    there = [_read(sentence) for sentence in second]
    seen: set[Opposed] = set()
    for sentence in first:
        one = _read(sentence)
        for other in there:
            found = [*_replaced(one, other)] or [*_swapped(one, other)]
            yield from (each for each in found if each not in seen)
            seen.update(found)


def on_other_sides(first: Sequence[str], second: Sequence[str]) -> bool:
    """Is each of two sentences about one of several, and those on opposite sides? "The man on the left wears a hat"."""
    one, other = _side_of_subject(first), _side_of_subject(second)
    return one is not None and other in OPPOSITES[one]


def _side_of_subject(tokens: Sequence[str]) -> str | None:
    """The side by which the first noun of a sentence is told from others; None where it is said where it is."""
    place = next((place for place, token in enumerate(tokens) if token in SIDES), 0)
    if place < 4 or tokens[place - 1] != "the" or tokens[place - 2] not in _AT:
        return None
    if not all(token in COLOURS or is_content(token) for token in tokens[1 : place - 2]):
        return None
    rest = list(tokens[place + 1 :])
    if rest[:1] and rest[0] in _PARTS:
        del rest[0]
    if rest[:1] == ["of"]:
        del rest[:3]
    return tokens[place] if rest and (rest[0] in LINKS or is_content(rest[0])) else None


def _read(sentence: str) -> _Sentence:
    tokens = tokens_of(sentence)
    return _Sentence(tokens, subject_words(tokens))


def _replaced(one: _Sentence, other: _Sentence) -> Iterator[Opposed]:
    for place, word in enumerate(one.tokens):
        for opposite in OPPOSITES.get(word, ()):
            if opposite not in other.tokens or opposite in one.tokens or word in other.tokens:
                continue
            denied = is_denied(one.tokens, place) or is_denied(other.tokens, other.tokens.index(opposite))
            words, others = one.words - {singular(word)}, other.words - {singular(opposite)}
            if not denied and _same_subject(words, others) and not _turned_round(one, word, other, opposite):
                yield Opposed(word, opposite)


def _same_subject(words: frozenset[str], others: frozenset[str]) -> bool:
    """Do two sentences have their words in common, or nearly all of one of them?"""
    common, extra = len(words & others), min(len(words - others), len(others - words))
    return common > 0 and (extra == 0 or common >= _MUCH_MORE * extra)


def _turned_round(one: _Sentence, word: str, other: _Sentence, opposite: str) -> bool:
    """ "A is left of B" and "B is right of A" agree."""
    before, after = _sides(one.tokens, word)
    other_before, other_after = _sides(other.tokens, opposite)
    return bool(before & other_after) and bool(after & other_before)


def _swapped(one: _Sentence, other: _Sentence) -> Iterator[Opposed]:
    """ "A is left of B" and "B is left of A" do not; nor "A is larger than B" and "B is larger than A"."""
    if not _same_subject(one.words, other.words):
        return
    for word in one.tokens:
        if word not in _RELATIONS or not (_relates(one.tokens, word) and _relates(other.tokens, word)):
            continue
        before, after = _sides(one.tokens, word)
        other_before, other_after = _sides(other.tokens, word)
        if before & other_after and after & other_before and not after & other_after:
            here, there = " ".join(sorted(before & other_after)), " ".join(sorted(after & other_before))
            between = f"{word} of" if word in _WITH_OF else word
            yield Opposed(f"{here} {between} {there}", f"{there} {between} {here}")
            return


def _relates(tokens: Sequence[str], word: str) -> bool:
    """Does the word stand once, between two things, and undenied? "On the left" names no second one."""
    if tokens.count(word) != 1:
        return False
    place = tokens.index(word)
    return not is_denied(tokens, place) and (word not in _WITH_OF or "of" in tokens[place + 1 : place + 2])


def _sides(tokens: Sequence[str], word: str) -> tuple[frozenset[str], frozenset[str]]:
    """What stands before and after a word, without what stands on both sides."""
    place = tokens.index(word)
    before, after = (
        frozenset(singular(token) for token in part if token in COLOURS or is_content(token))
        for part in (tokens[:place], tokens[place + 1 :])
    )
    return before - after, after - before


ContradictionKind: TypeAlias = Literal["number", "colour", "opposite", "negation"]


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
