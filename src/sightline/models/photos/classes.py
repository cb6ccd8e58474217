"""What ImageNet's 1,000 classes are called: WordNet's lemmas of each, best-known first, as timm lists them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sightline.class_names import known_as

FILE = Path(__file__).with_name("classes.txt")


@known_as("ClassText")
@dataclass(frozen=True, slots=True)
class ClassText:
    """A text that stands for a class; is it the class's best-known name?"""

    number: int
    text: str
    best_known: bool


@cache
def class_names() -> tuple[tuple[str, ...], ...]:
    """The names of each class, in the order of the classifier's outputs."""
    return tuple(tuple(line.split(", ")) for line in FILE.read_text("utf-8").splitlines())


def class_texts() -> list[ClassText]:
    """Each name of each class, by itself and as people write of photographs, and all its names as they are listed."""
    texts = []
    for number, names in enumerate(class_names()):
        for name in names:
            texts += [ClassText(number, text, name == names[0]) for text in (name, f"a photo of a {name}")]
        if len(names) > 1:
            texts.append(ClassText(number, ", ".join(names), best_known=False))
    return texts
