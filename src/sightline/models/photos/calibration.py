"""From a similarity to a chance: how sure one may be that a text fits a picture.

Texts differ in how near they lie to pictures in general, so a similarity is first counted in standard deviations from
its mean over 6,000 photographs, then read off a curve that was fitted on 400 photographs of Flickr8k.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.models.protocols import Vectors

CALIBRATION_FILE = Path(__file__).with_name("calibration.npz")
"""Made by training/photos/calibrate.py."""


@dataclass(frozen=True)
class Calibration:
    """Statistics of photographs (mean vector; main directions times their spread; the rest), and the curves.

    `base` is how often a word fitted a picture where the curve for words was fitted.
    """

    mean: NDArray[np.float32]
    directions: NDArray[np.float32]
    rest: float
    base: float
    word_curve: NDArray[np.float32]
    flag_curve: NDArray[np.float32]
    facet_curve: NDArray[np.float32]
    sentence_curve: NDArray[np.float32]

    def surprise(self, texts: Vectors, pictures: Vectors) -> NDArray[np.float32]:
        """Standard deviations above what the text has with photographs in general; a row for each picture."""
        if texts.shape[1] != len(self.mean):
            raise UserError("chances are known for the embedder photos with its head only.", "leave head=false out")
        spread = np.sqrt(((texts @ self.directions.T) ** 2).sum(axis=1) + self.rest)
        above: NDArray[np.float32] = (pictures - self.mean) @ texts.T / spread
        return above

    def words(self, texts: Vectors, pictures: Vectors) -> NDArray[np.float64]:
        """The chance that two of five people who describe the picture would use this word, or one of its kind."""
        return np.interp(self.surprise(texts, pictures), *self.word_curve)

    def flags(self, texts: Vectors, pictures: Vectors) -> NDArray[np.float64]:
        """The chance that the word fits the picture, where as many pictures fit as do not."""
        return np.interp(self.surprise(texts, pictures), *self.flag_curve)

    def facets(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The chance that the likeliest value of a facet is right, from `facet_shares`; a number for each picture."""
        chances: NDArray[np.float64] = np.interp(shares.max(axis=1, initial=0.0), *self.facet_curve)
        return chances

    def evidence(self, texts: Vectors, pictures: Vectors) -> NDArray[np.float64]:
        """How many times likelier the picture is if the word fits than if not; 1 says nothing either way."""
        chance = np.clip(self.words(texts, pictures), 1e-4, 1 - 1e-4)
        ratio: NDArray[np.float64] = chance / (1 - chance) * (1 - self.base) / self.base
        return ratio

    def sentences(self, texts: Vectors, pictures: Vectors) -> NDArray[np.float64]:
        """The chance that the sentence describes the picture, where as many sentences do as do not."""
        return np.interp(self.surprise(texts, pictures), *self.sentence_curve)


def facet_shares(evidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each value of a facet (a column) has of all evidence: they compete with each other and with "none"."""
    shares: NDArray[np.float64] = evidence / (1 + evidence.sum(axis=1, keepdims=True))
    return shares


@cache
def calibration() -> Calibration:
    """The calibration that is shipped."""
    with np.load(CALIBRATION_FILE, allow_pickle=False) as file:
        return Calibration(
            mean=file["mean"].astype(np.float32),
            directions=file["directions"].astype(np.float32),
            rest=float(file["rest"]),
            base=float(file["base"]),
            word_curve=file["word_curve"],
            flag_curve=file["flag_curve"],
            facet_curve=file["facet_curve"],
            sentence_curve=file["sentence_curve"],
        )
