"""Simple questions with four options, about one picture or several: what a base must know before it is asked harder.

They are asked and answered as those of the experiment are, but each needs no more than one look at one picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from array_examples import TrainText
from drawing import Drawn, Named

KEYS = "ABCD"


def choices_of(scenes: Sequence[Drawn], seed: str) -> Iterator[tuple[str, TrainText]]:
    """Questions over each scene alone, and as many over four of them by lot; with the kind of each."""
    rng = Random(f"{seed}/choices")
    names = sorted({thing.name for scene in scenes for thing in scene.things})
    for scene in scenes:
        if len(names) >= len(KEYS):
            yield "letters", _letters(names, rng)
        if scene.things and len(names) >= len(KEYS):
            yield "choose what", _what(scene.things, names, rng)
        if len(scene.things) >= len(KEYS):
            yield "choose where", _where(scene.things, rng)
    for number in range(len(scenes) if len(scenes) >= len(KEYS) else 0):
        four = rng.sample(scenes, len(KEYS))
        sought = _in_one_alone(four, rng)
        if sought is not None:
            yield ("choose picture", _number(four, *sought)) if number % 2 else ("choose image", _image(four, *sought))


def _letters(names: Sequence[str], rng: Random) -> TrainText:
    """Which letter belongs to which option, and the other way round, with no picture at all."""
    options = rng.sample(list(names), len(KEYS))
    (question, answer), *more = [
        (f"Which is the {options[at]}?", f"The answer is {KEYS[at]}.")
        if rng.random() < 0.5
        else (f"What is {KEYS[at]}?", f"{KEYS[at]}. the {options[at]}")
        for at in rng.sample(range(len(KEYS)), 3)
    ]
    return TrainText(f"Options:{_listed([f'the {name}' for name in options])}\n{question}", answer, (), tuple(more))


def _what(things: Sequence[Named], names: Sequence[str], rng: Random) -> TrainText:
    """Options are other things in the picture as long as there are any."""
    right = rng.choice(things)
    there = [thing.name for thing in things if thing is not right]
    others = rng.sample(there, min(len(there), 3))
    known = {right.name, *others}
    others += rng.sample([name for name in names if name not in known], 3 - len(others))
    options = [right.name, *others]
    rng.shuffle(options)
    return asked(
        f"<image>\nWhat is at [{right.box}]?",
        [f"the {name}" for name in options],
        options.index(right.name),
        f"At this place is the {right.name}.",
        (right.picture,),
    )


def _where(things: Sequence[Named], rng: Random) -> TrainText:
    options = rng.sample(list(things), len(KEYS))
    right = rng.choice(options)
    return asked(
        f"<image>\nWhere is the {right.name}?",
        [f"[{thing.box}]" for thing in options],
        options.index(right),
        f"The {right.name} is at [{right.box}].",
        (right.picture,),
    )


def _in_one_alone(scenes: Sequence[Drawn], rng: Random) -> tuple[int, str] | None:
    """A thing that is named in one of some scenes only: which scene it is, and its name."""
    seen = [set(scene.names) for scene in scenes]
    place = rng.randrange(len(scenes))
    elsewhere = set().union(*(names for at, names in enumerate(seen) if at != place))
    alone = sorted(seen[place] - elsewhere)
    return (place, rng.choice(alone)) if alone else None


def _number(scenes: Sequence[Drawn], place: int, name: str) -> TrainText:
    shown = "".join(f"Picture {number}: <image>\n" for number in range(1, len(scenes) + 1))
    return asked(
        f"{shown}Which picture shows the {name}?",
        [f"picture {number}" for number in range(1, len(scenes) + 1)],
        place,
        f"The {name} is in picture {place + 1}.",
        _pictures(scenes),
    )


def _image(scenes: Sequence[Drawn], place: int, name: str) -> TrainText:
    question, words = f"Which picture shows the {name}?", f"Picture {place + 1} shows the {name}."
    return asked(question, ["<image>"] * len(scenes), place, words, _pictures(scenes))


def _pictures(scenes: Sequence[Drawn]) -> tuple[int, ...]:
    return tuple(number for scene in scenes for number in scene.pictures)


def asked(question: str, options: Sequence[str], right: int, words: str, pictures: tuple[int, ...]) -> TrainText:
    """A question as the experiment asks it, without steps before the conclusion, and answered by an option's words."""
    answer = KEYS[right] if options[right] == "<image>" else options[right]
    target = f"Conclusion: {words} The answer is {answer}."
    return TrainText(f"{question}\nOptions:{_listed(options)}\n\nWrite: Conclusion.", target, pictures)


def _listed(options: Sequence[str]) -> str:
    return "".join(f"\n{key}. {option}" for key, option in zip(KEYS, options, strict=True))
