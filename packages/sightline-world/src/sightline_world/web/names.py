"""Names for what is on the web: nobody knows them, and no two things share one unless that is meant."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from sightline_world.histories.people import FIRST_NAMES
from sightline_world.scene import HAIR, SCENE_COLOURS, SCENE_KINDS
from sightline_world.words import PLAIN, invented

_SHORTEST = 4


class Namer:
    """Gives out names, each once."""

    def __init__(self, rng: Random, taken: Iterable[str] = ()) -> None:
        self._rng = rng
        self._taken = {word.upper() for word in (*taken, *PLAIN, *SCENE_COLOURS, *SCENE_KINDS, *HAIR, *FIRST_NAMES)}

    def word(self) -> str:
        """A name that can stand on a sign: one word of four to nine letters."""
        while True:
            word = invented(self._rng)
            if len(word) >= _SHORTEST and word not in self._taken:
                self._taken.add(word)
                return word.title()

    def person(self) -> tuple[str, str]:
        """A full name and its surname, which nobody else has."""
        surname = self.word()
        return f"{self._rng.choice(FIRST_NAMES)} {surname}", surname
