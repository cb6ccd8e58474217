"""A reader that sees only the text of a prompt and guesses the answer: what it gets right above chance has leaked.

Options are replaced by marks, so that what is learned is how texts speak of the right one ("my vote goes to …") and
not which one it is. A conditional logit over the n-grams around those marks.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

from sightline.metrics.choices.keys import fold_letters

OWN, OTHER = "‹own›", "‹other›"
SURE = 0.8
"""A guess from this probability on is not called luck."""
_TEMPLATES = Path(__file__).with_name("leaks.toml")
_KEYS, _EPOCHS, _RATE, _RIDGE = "ABCD", 12, 0.5, 1e-3
_REACH = 4
"""Words on each side of a mark that are read."""
_TOKEN = re.compile(r"‹own›|‹other›|[^\W_]+|[✓✔✅☑→←*=:?]")
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_PLACED = r"\b(?:the\s+)?{}\s+(?:option|choice|one|answer|picture|image|frame|of\s+them)\b"
_NOUN = r"(?:\b(?:options?|choices?|answers?|letters?)\s+)?"


class BlindQuestion(NamedTuple):
    """What is read: a text, the options by key (their words may be empty), and the key of the right one."""

    text: str
    options: Mapping[str, str]
    answer: str


OptionFeatures: TypeAlias = Mapping[str, Mapping[str, float]]
"""By the key of an option."""
ReadQuestion: TypeAlias = tuple[OptionFeatures, str]
"""The features of a question's options, and the key of the right one."""


def option_features(question: BlindQuestion) -> OptionFeatures:
    """For each option, the n-grams around it and around the others, each once."""
    text = fold_letters(question.text, [*question.options])
    patterns = {key: _mention(key, words, place) for place, (key, words) in enumerate(question.options.items())}
    return {key: _features(_marked(text, patterns, key)) for key in patterns}


def names_every_option(question: BlindQuestion) -> bool:
    """Does a text speak of all options? Then it speaks for none."""
    text = fold_letters(question.text, [*question.options])
    ways = (_mention(key, words, place) for place, (key, words) in enumerate(question.options.items()))
    return all(re.search(way, text) for way in ways)


def _mention(key: str, words: str, place: int) -> str:
    # "A" before a small letter is an article, unless a noun stands before it or a verb behind.
    bare = rf"{_NOUN}[(\[]?(?<!\w){re.escape(key)}(?!\w)(?!['’])[)\]]?"
    if key in ("A", "I"):
        bare += r"(?!\s+(?!is\b|and\b|n?or\b|but\b|wins\b|can\b|must\b|it\b|has\b|gets\b|fits\b)[a-z])"
    ways = [bare]
    if place < len(_PLACES):
        ways.append(f"(?i:{_PLACED.format(_PLACES[place])})")
    if len(words.strip(" .")) > 1:
        ways.insert(0, rf"(?i:(?:\b(?:the|an?)\s+)?(?<!\w){re.escape(words.strip(' .'))}(?!\w))")
    return "|".join(ways)


def _marked(text: str, patterns: Mapping[str, str], own: str) -> list[str]:
    whole = re.compile("|".join(f"(?P<k{place}>{way})" for place, way in enumerate(patterns.values())))
    names = dict(zip((f"k{place}" for place in range(len(patterns))), patterns, strict=True))
    marked = whole.sub(lambda found: f" {OWN if names[found.lastgroup or ''] == own else OTHER} ", text)
    return [token if token in (OWN, OTHER) else token.casefold() for token in _TOKEN.findall(marked)]


def _features(tokens: list[str]) -> dict[str, float]:
    # Marks in a row ("A, C and D") share what stands around them.
    kept = [token for at, token in enumerate(tokens) if not _is_repeated(tokens, at)]
    found: dict[str, float] = {}
    for at, token in enumerate(kept):
        if token == OWN or (token == OTHER and OWN not in kept):
            before, behind = kept[max(0, at - _REACH) : at], kept[at + 1 : at + 1 + _REACH]
            grams = [*(f"<{word}" for word in before), *(f">{word}" for word in behind)]
            for reach in (1, 2, 3):
                grams += [" ".join((*before[-reach:], "•")), " ".join(("•", *behind[:reach]))]
            grams += [" ".join((*before[-1:], "•", *behind[:1]))] + ["alone"] * (not before and not behind)
            found.update((f"{token}{gram}", 1.0) for gram in grams)
    return found


def _is_repeated(tokens: list[str], at: int) -> bool:
    joined = tokens[at] in ("and", "or", "nor") and at > 0 and tokens[at - 1] in (OWN, OTHER)
    before = at - 2 if at > 1 and tokens[at - 1] in ("and", "or", "nor") else at - 1
    mark = tokens[at] in (OWN, OTHER)
    return (joined and tokens[at + 1 : at + 2] == [tokens[at - 1]]) or (
        mark and before >= 0 and tokens[before] == tokens[at]
    )


class NgramReader:
    """Weights of n-grams by which the options of a question are told apart."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = weights

    @classmethod
    def trained(cls, read: Iterable[ReadQuestion], start: Mapping[str, float] | None = None) -> NgramReader:
        """Stochastic steps of the conditional logit's likelihood, as AdaGrad sizes them, from these weights on."""
        examples = list(read)
        weights: dict[str, float] = defaultdict(float, start or {})
        squares: dict[str, float] = defaultdict(lambda: 1e-6)
        for epoch in range(_EPOCHS):
            Random(epoch).shuffle(examples)
            for features, answer in examples:
                for key, share in _shares(weights, features).items():
                    missed = (key == answer) - share
                    for gram, value in features[key].items():
                        slope = missed * value - _RIDGE * weights[gram]
                        squares[gram] += slope * slope
                        weights[gram] += _RATE * slope / math.sqrt(squares[gram])
        return cls(dict(weights))

    def shares(self, features: OptionFeatures) -> dict[str, float]:
        """The probability of each option."""
        return _shares(self.weights, features)


def _shares(weights: Mapping[str, float], features: OptionFeatures) -> dict[str, float]:
    odds = {key: sum(weights.get(gram, 0.0) * value for gram, value in own.items()) for key, own in features.items()}
    most = max(odds.values(), default=0.0)
    parts = {key: math.exp(value - most) for key, value in odds.items()}
    return {key: part / sum(parts.values()) for key, part in parts.items()}


def shipped_questions() -> tuple[BlindQuestion, ...]:
    """The sentences of `leaks.toml` about every option; a neutral one is said of each whichever is right."""
    templates: dict[str, list[str]] = tomllib.loads(_TEMPLATES.read_text("utf-8"))
    found = []
    for kind, sentences in templates.items():
        for sentence in sentences:
            for own in _KEYS:
                others = [key for key in _KEYS if key != own]
                text = sentence.format(own=own, others=f"{', '.join(others[:-1])} and {others[-1]}")
                found += [BlindQuestion(text, dict.fromkeys(_KEYS, ""), key) for key in _rights(kind, own)]
    return tuple(found)


def _rights(kind: str, own: str) -> Sequence[str]:
    return _KEYS if kind == "neutral" else own


@lru_cache(maxsize=1)
def shipped_reader() -> NgramReader:
    """Trained on the shipped sentences alone: the one that drops records."""
    return NgramReader.trained((option_features(one), one.answer) for one in shipped_questions())
