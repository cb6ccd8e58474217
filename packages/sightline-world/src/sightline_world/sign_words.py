"""Words that stand on signs."""

from __future__ import annotations

from random import Random

from sightline_world.data import read_data

_DATA = read_data("sign_words.toml")
PLAIN: tuple[str, ...] = _DATA["plain"]
"""Words that one expects on a sign."""
_STARTS, _MIDDLES, _ENDS, _TAILS = _DATA["starts"], _DATA["middles"], _DATA["ends"], _DATA["tails"]
# Beginnings that would offend someone.
_UNFIT: tuple[str, ...] = _DATA["unfit"]


def invented(rng: Random) -> str:
    """A name that nobody knows, of at most nine letters: it can be read but not guessed."""
    word = _UNFIT[0]
    while word.startswith(_UNFIT):
        word = rng.choice(_STARTS) + rng.choice(_MIDDLES) + rng.choice(_ENDS) + rng.choice(_TAILS)
    return word[:9]


def sign_words(rng: Random) -> str:
    """One or two words for a sign, half of them invented."""
    words = [rng.choice(PLAIN) if rng.random() < 0.5 else invented(rng) for _ in range(rng.choice((1, 1, 2)))]
    return " ".join(words)
