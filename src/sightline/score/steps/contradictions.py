"""Contradictions between two steps that speak of the same thing: heuristics on words, in English and Chinese.

Found: another number of the same noun, another colour of the same noun, an opposite in place of a word (left for
right), and a sentence that denies what the other affirms. Not found: what needs knowledge or more than a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sightline.score.answers.normalise import fold
from sightline.score.answers.numerals import find_numbers
from sightline.score.answers.reply import sentences
from sightline.score.answers.units import COUNTERS

ContradictionKind: TypeAlias = Literal["number", "colour", "opposite", "negation"]

_TOKEN = re.compile(r"#[^\s#]+#|[^\W\d_\u4e00-\u9fff]+(?:'[a-z]+)?|[\u4e00-\u9fff]|\d+")
_COLOUR_WORDS = (
    "red blue green yellow black white orange purple pink brown grey gold silver 红 蓝 绿 黄 黑 白 橙 紫 粉 棕 灰 金 银"
)
_COLOURS = frozenset(_COLOUR_WORDS.split())
_OPPOSITE_WORDS = """
    left right | above below | top bottom | upper lower | front behind | front back | inside outside | before after
    up down | increases decreases | increase decrease | increased decreased | increasing decreasing | first last
    larger smaller | bigger smaller | taller shorter | longer shorter | faster slower | more less | more fewer
    higher lower | heavier lighter | closer farther | closer further | nearer farther | open closed | same different
    clockwise counterclockwise | clockwise anticlockwise | day night | empty full | forward backward | towards away
    indoors outdoors | correct incorrect | true false | 左 右 | 上 下 | 前 后 | 内 外 | 里 外 | 大 小 | 高 低 | 快 慢
    多 少 | 长 短 | 轻 重 | 远 近 | 开 关 | 增 减
"""
_OPPOSITES = tuple(tuple(pair.split()) for line in _OPPOSITE_WORDS.strip().splitlines() for pair in line.split("|"))
_BOTH_WAYS = (*_OPPOSITES, *(pair[::-1] for pair in _OPPOSITES))
_NEGATIONS = frozenset(
    {"not", "no", "never", "without", "neither", "nor", "none", "cannot", "不", "没", "无", "未", "非"}
)
_LINK_WORDS = "is are was were be looks look appears appear seems seem 是 为 呈"
_LINKS = frozenset(_LINK_WORDS.split())
_FILLER_WORDS = (
    "a an the of in on at to for with by from and or it its this that these those as there has have had very quite "
    "also 的 色 了 在 有 和 与 也 就 都 着"
)
_FILLERS = frozenset(_FILLER_WORDS.split())
_NUMBERED = frozenset({"image", "picture", "photo", "figure", "frame", "step", "option", "panel", "图"})
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
        """The same first word, or one's first as the other's second: "car" and "sports car"."""
        if not self.nouns or not other.nouns:
            return False
        return self.nouns[0] in other.nouns or other.nouns[0] in self.nouns


def find_contradictions(reference: str, predicted: str) -> tuple[Contradiction, ...]:
    """Every conflict found between two texts; each noun, pair of opposites and pair of sentences at most once."""
    first, second = _tokens(reference), _tokens(predicted)
    found = [
        *_conflicts("number", [*_numbers(first)], [*_numbers(second)]),
        *_conflicts("colour", [*_colours(first)], [*_colours(second)]),
        *_opposites(first, second),
    ]
    if not _NEGATIONS.isdisjoint(first) or not _NEGATIONS.isdisjoint(second):
        found += _denials(reference, predicted)
    return tuple(found)


def _tokens(text: str) -> list[str]:
    """Lower-case words and Chinese characters in order; a number is `#value#` in whatever way it was written."""
    text = fold(text)
    for number in reversed(find_numbers(text)):
        text = f"{text[: number.start]} #{number.value}# {text[number.end :]}"
    words = _TOKEN.findall(text.lower().replace("n't", " not"))
    return ["grey" if word == "gray" else word for word in words if word not in COUNTERS]


def _is_content(token: str) -> bool:
    return not (
        token.startswith("#") or token in _FILLERS or token in _LINKS or token in _NEGATIONS or token in _COLOURS
    )


def _singular(token: str) -> str:
    return token[:-1] if len(token) > 3 and token.endswith("s") and not token.endswith("ss") else token


def _next_nouns(tokens: Sequence[str], place: int) -> tuple[str, ...]:
    """The one or two content words after an attribute ("red sports car"), of which one is what it belongs to."""
    nouns: list[str] = []
    for token in tokens[place + 1 : place + 6]:
        if token in _COLOURS or token in ("的", "色"):
            continue
        if len(nouns) == 2 or not _is_content(token):
            break
        nouns.append(_singular(token))
    return tuple(nouns)


def _numbers(tokens: Sequence[str]) -> Iterator[_Attribute]:
    """How many of what; "picture 2" is a name, not a count."""
    for place, token in enumerate(tokens):
        named = place > 0 and _singular(tokens[place - 1]) in _NUMBERED
        if token.startswith("#") and not named:
            yield _Attribute(token.strip("#"), _next_nouns(tokens, place))


def _colours(tokens: Sequence[str]) -> Iterator[_Attribute]:
    """What has which colour, before it ("red car") or after it ("the car is red")."""
    for place, token in enumerate(tokens):
        if token not in _COLOURS:
            continue
        nouns = _next_nouns(tokens, place)
        if not nouns and place > 1 and tokens[place - 1] in _LINKS and _is_content(tokens[place - 2]):
            nouns = (_singular(tokens[place - 2]),)
        yield _Attribute(token, nouns)


def _conflicts(
    kind: ContradictionKind, reference: Sequence[_Attribute], predicted: Sequence[_Attribute]
) -> Iterator[Contradiction]:
    """Attributes of one noun on both sides with no value in common; the same values in conflict count once."""
    seen: set[tuple[frozenset[str], frozenset[str]]] = set()
    for attribute in reference:
        wanted = frozenset(one.value for one in reference if attribute.shares_noun(one))
        said = frozenset(other.value for other in predicted if attribute.shares_noun(other))
        if wanted and said and not wanted & said and (wanted, said) not in seen:
            seen.add((wanted, said))
            noun = attribute.nouns[0]
            yield Contradiction(kind, f"{'/'.join(sorted(wanted))} {noun}", f"{'/'.join(sorted(said))} {noun}")


def _opposites(first: Sequence[str], second: Sequence[str]) -> Iterator[Contradiction]:
    words, others = set(first), set(second)
    shared = {token for token in words if _is_content(token)} & others
    for one, other in _BOTH_WAYS:
        replaced = one in words and other in others and one not in others and other not in words
        if replaced and shared and not _turned_round(first, one, second, other):
            yield Contradiction("opposite", one, other)


def _turned_round(first: Sequence[str], one: str, second: Sequence[str], other: str) -> bool:
    """ "A is left of B" and "B is right of A" agree."""
    before, after = _around(first, one)
    other_before, other_after = _around(second, other)
    return bool(before & other_after) and bool(after & other_before)


def _around(tokens: Sequence[str], word: str) -> tuple[set[str], set[str]]:
    place = tokens.index(word)
    kept = [{token for token in part if _is_content(token)} for part in (tokens[:place], tokens[place + 1 :])]
    return kept[0], kept[1]


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
    tokens = _tokens(sentence)
    return {token for token in tokens if _is_content(token)}, not _NEGATIONS.isdisjoint(tokens)
