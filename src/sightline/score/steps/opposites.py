"""Two sentences of the same words but for an opposite in place of a word, or with both sides of a relation swapped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sightline.score.steps.wording import (
    COLOURS,
    LINKS,
    is_content,
    is_denied,
    singular,
    subject_words,
    tokens_of,
    words_in,
)

_WORDS = """
    left right | above below | top bottom | upper lower | front behind | front back | inside outside | before after
    up down | increases decreases | increase decrease | increased decreased | increasing decreasing | first last
    larger smaller | bigger smaller | taller shorter | longer shorter | faster slower | more less | more fewer
    higher lower | heavier lighter | closer farther | closer further | nearer farther | open closed | same different
    clockwise counterclockwise | clockwise anticlockwise | day night | empty full | forward backward | towards away
    indoors outdoors | indoor outdoor | correct incorrect | true false | cloudy clear | cloudy sunny | overcast clear
    overcast sunny | rainy sunny | wet dry | bright dark | bright dim | light dark | young old | new old | happy sad
    smiling frowning | standing sitting | standing lying | sitting lying | awake asleep | hot cold | warm cold
    clean dirty | near far | high low | wide narrow | thick thin | tall short | long short | big small | large small
    large little | big little | large tiny | big tiny | huge small | huge tiny | summer winter | morning evening
    morning night | sunrise sunset | daylight night | daytime night | daytime nighttime | man woman | men women
    boy girl | boys girls | male female | adult child | straight curved | calm rough | smooth rough | blurry sharp
    raised lowered | rising falling | entering leaving | arriving leaving | moving stationary | parked moving
    crowded empty | crowded deserted | busy quiet | alive dead | above under | over under | over below | on under
    on off | lit unlit | locked unlocked | open shut | opened closed | visible hidden | broken intact | rural urban
    modern old | deep shallow | soft hard | sleeping awake | present absent | empty occupied | dressed naked
    左 右 | 上 下 | 前 后 | 内 外 | 里 外 | 大 小 | 高 低 | 快 慢 | 多 少 | 长 短 | 轻 重 | 远 近 | 开 关 | 增 减
    男 女 | 晴 阴 | 昼 夜 | 湿 干 | 新 旧 | 明 暗 | 冷 热
"""
_PAIRS = tuple(tuple(pair.split()) for line in _WORDS.strip().splitlines() for pair in line.split("|"))
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
_MUCH_MORE = 4
"""Common words for each that only one of two sentences has, if they are to speak of the same."""


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
