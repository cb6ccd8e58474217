"""Replies to multiple-choice questions: how often is a wrong letter read, and how often none?

`python benchmarks/replies.py` scores the families that the parser was developed on; `--held-out` the others.
Peers are the rules of VLMEvalKit (letters among the tokens, then texts of options) and of MMMU (bracketed letters,
letters before a space or a full stop, texts; the last of several), written anew here from their published description;
where they would guess at random or ask a model, they count as having read nothing.
"""

from __future__ import annotations

import random
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sightline.metrics.choices.parse import parse_choice
from sightline.metrics.statistics.intervals import wilson

_TEMPLATES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_KEYS = "ABCD"
_ENGLISH, _OTHER = 8, 4
_SORRY = ("sorry, i can't", "i'm sorry", "as an ai", "i can't help", "cannot determine")

Reader = Callable[[str, Mapping[str, str]], str | None]


@dataclass(frozen=True, slots=True)
class LabelledReply:
    """A reply, the options that it answers to, and the key that a reader should find (None: no option is chosen)."""

    text: str
    options: Mapping[str, str]
    key: str | None
    language: str
    style: str
    template: str


def replies(families: Mapping[str, str]) -> Iterator[LabelledReply]:
    """Each template with each key as the right one, the others in random order, and two sets of options in turn."""
    for language, lines in families.items():
        for line in filter(None, map(str.strip, lines.splitlines())):
            style, _, template = line.partition(" | ")
            for place in range(_ENGLISH if language == "english" else _OTHER):
                shuffled = random.Random(f"{language} {template} {place}")
                texts = _TEMPLATES["options"][language][place // 4 if language == "english" else shuffled.randrange(2)]
                options = dict(zip(_KEYS, texts, strict=True))
                right = _KEYS[place % 4]
                text = _filled(template, right, options, shuffled)
                key = None if style.startswith("none") else right
                yield LabelledReply(text, options, key, language, style, template)


def _filled(template: str, right: str, options: Mapping[str, str], shuffled: random.Random) -> str:
    others = shuffled.sample([key for key in _KEYS if key != right], 3)
    slots = dict(zip(("k", "a", "b", "c"), (right, *others), strict=True))
    values = {**slots, **{f"t{name}": options[key] for name, key in slots.items()}}
    values |= {f"o{key}": text for key, text in options.items()}
    values["options"] = "\n".join(f"{key}. {text}" for key, text in options.items())
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), template).replace("⏎", "\n")


def ours(text: str, options: Mapping[str, str]) -> str | None:
    return parse_choice(text, options).option


def vlmevalkit(text: str, options: Mapping[str, str]) -> str | None:
    """The one letter among the tokens (A in a longer reply may be an article: none), else the one text that occurs."""
    if any(phrase in text.lower() for phrase in _SORRY):
        return None
    tokens = re.sub(r"[.()\[\],:;!*#{}]", " ", text).split()
    letters = [key for key in options if key in tokens]
    if len(letters) == 1:
        return None if letters == ["A"] and len(tokens) > 3 else letters[0]
    if letters or len(text) > 2 * sum(map(len, options.values())):
        return None
    texts = [key for key, option in options.items() if option.lower() in text.lower()]
    return texts[0] if len(texts) == 1 else None


def mmmu(text: str, options: Mapping[str, str]) -> str | None:
    """Of the letters in brackets, else before a space, else before a full stop, else of the texts: the last one."""
    said = f" {text.strip(',.!?;: ' + chr(39))} "
    for form in ("({})", "{} ", "{}."):
        places = {key: said.rfind(form.format(key)) for key in options if form.format(key) in said}
        if places:
            return max(places, key=lambda key: places[key])
    if len(said.split()) <= 5:
        return None
    places = {key: said.lower().rfind(option.lower()) for key, option in options.items()}
    last = max(places, key=lambda key: places[key])
    return last if places[last] >= 0 else None


READERS: dict[str, Reader] = {"ours": ours, "VLMEvalKit": vlmevalkit, "MMMU": mmmu}


@dataclass(frozen=True, slots=True)
class Rates:
    """Wrong: a letter other than the one chosen was read. Missed: of replies that choose one, none was read."""

    replies: int
    choosing: int
    wrong: tuple[LabelledReply, ...]
    missed: tuple[LabelledReply, ...]

    @property
    def line(self) -> str:
        around = wilson(len(self.wrong) / self.replies, self.replies, 0.95)
        templates = len({(case.language, case.template) for case in self.wrong})
        return (
            f"{len(self.wrong) / self.replies:.2%} [{around.low:.2%}, {around.high:.2%}] of {self.replies}"
            f" ({templates} templates) | {len(self.missed) / self.choosing:.2%} of {self.choosing}"
        )


def rates(cases: list[LabelledReply], read: Reader) -> Rates:
    said = [(case, read(case.text, case.options)) for case in cases]
    return Rates(
        len(cases),
        sum(case.key is not None for case in cases),
        tuple(case for case, key in said if key not in (None, case.key)),
        tuple(case for case, key in said if key is None and case.key is not None),
    )


def main(arguments: list[str]) -> None:
    names = [name for name in _TEMPLATES if name.startswith("held_out")] if "--held-out" in arguments else []
    for name in ("developed", "developed_later", *names):
        cases = list(replies(_TEMPLATES[name]))
        print(f"{name}: {len({(case.language, case.template) for case in cases})} templates")
        for reader, read in READERS.items():
            result = rates(cases, read)
            print(f"| {reader} | {result.line} |")
            if reader == "ours" and "--show" in arguments:
                _show(result)


def _show(result: Rates) -> None:
    for word, cases in (("wrong", result.wrong), ("missed", result.missed)):
        for case in cases:
            choice = parse_choice(case.text, case.options)
            print(f"  {word} {case.language} [{case.style}] {case.text!r}: {case.key}, read {choice}")


if __name__ == "__main__":
    main(sys.argv[1:])
