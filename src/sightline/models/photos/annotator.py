"""What `photos` can say of a picture: tags, facets, flags and looks with an honest confidence, and a weak judgment.

Tags come from words that it knows by heart, from the classifier's 1,000 classes, whose probabilities held on the
development split as they are, and from any other vocabulary by zero-shot score. Facets and flags are questions that
somebody asked, so before looking each answer is as likely as the other; tags are words like any other. What is less
sure than the threshold is "unknown", or left out. People are never counted, because nothing here can: "unknown".
Judgments are marked as weak wherever they go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.config.settings import AnnotateSettings
from sightline.errors import UserError
from sightline.models.built_in import PHOTOS
from sightline.models.photos.appearance import Appearance, measure_appearance
from sightline.models.photos.embedder import Photos
from sightline.models.photos.joint_vectors import class_names, softmax
from sightline.models.photos.ocr import WordReader
from sightline.models.protocols import Pixels, Vectors
from sightline.types import Annotation
from sightline.types.corpus import Json

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


WORDS_FILE = Path(__file__).with_name("words.npz")
"""Made by training/photos/words.py."""


@dataclass(frozen=True)
class KnownWords:
    """A row of weights and a bias for each word."""

    words: tuple[str, ...]
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]

    def chances(self, pooled: NDArray[np.float32]) -> NDArray[np.float64]:
        """The chance that two of five people who describe the picture would use the word: pictures × words."""
        scores = pooled.astype(np.float64) @ self.weights.T + self.bias
        chances: NDArray[np.float64] = 1 / (1 + np.exp(-scores))
        return chances

    def column(self, word: str) -> int | None:
        """The place of a word; None for one that is not known."""
        return self.words.index(word) if word in self.words else None


@cache
def known_words() -> KnownWords:
    """Those that are shipped."""
    with np.load(WORDS_FILE, allow_pickle=False) as file:
        return KnownWords(tuple(file["words"].tolist()), file["weights"].astype(np.float32), file["bias"])


EVERYDAY = (
    *("people", "man", "woman", "child", "baby", "crowd", "dog", "cat", "horse", "bird"),
    *("beach", "water", "snow", "mountain", "grass", "tree", "flower", "street", "building", "city", "playground"),
    *("car", "bicycle", "motorcycle", "boat", "train", "guitar", "food", "night", "sunset"),
    *("swimming", "climbing", "running", "jumping", "dancing", "eating", "smiling"),
    *("soccer", "basketball", "baseball", "tennis", "skateboard", "surfing", "skiing"),
)
"""Words that people use of their photographs; most were trained on, or had curves fitted."""


BY = PHOTOS.name
UNKNOWN = "unknown"
THRESHOLD = 0.5
COLOUR_SHARE = 0.15
"""A colour is named when it covers this much of the picture."""
_FLAG_SURE = 0.75
"""A yes or no that is less sure than this is neither."""
FACET_SURE = 0.7
"""A value that is less sure than this is unknown: below, promises held on some facets only."""
_SHARP_SURE = 0.8
_QUESTION = re.compile(r"^(?:has|is|are|with|contains|shows)[ _-]+", re.IGNORECASE)
_SURE = 0.75


class _Scores(NamedTuple):
    """Of one picture: rows for the texts that are asked for, read in three ways, and one for the classes."""

    words: NDArray[np.float64]
    flags: NDArray[np.float64]
    evidence: NDArray[np.float64]
    classes: NDArray[np.float32]


class Annotator:
    """Annotates pictures by one set of questions, whose texts are embedded once."""

    def __init__(
        self,
        embedder: Photos,
        settings: AnnotateSettings | None = None,
        *,
        threshold: float = THRESHOLD,
        words: WordReader | None = None,
    ) -> None:
        self._embedder, self._threshold, self._words = embedder, threshold, words
        self._settings = settings = settings or AnnotateSettings()
        asked = [*settings.vocabulary, *settings.flags, *(v for values in settings.taxonomy.values() for v in values)]
        self._column = {text: at for at, text in enumerate(dict.fromkeys(asked))}
        self._texts = embedder.texts([_as_text(text) for text in self._column])
        places = {at: known_words().column(text) for text, at in self._column.items()}
        self._by_heart = {at: place for at, place in places.items() if place is not None}

    def __call__(self, pictures: Mapping[str, Pixels]) -> list[Annotation]:
        """One annotation for each picture, by its id."""
        seen = self._embedder.see(list(pictures.values()))
        known = calibration()
        words, flags, evidence = (
            read(self._texts, seen.vectors) for read in (known.words, known.flags, known.evidence)
        )
        words[:, list(self._by_heart)] = known_words().chances(seen.pooled)[:, list(self._by_heart.values())]
        rows = zip(words, flags, evidence, softmax(seen.logits), strict=True)
        return [
            self._annotation(id_, pixels, _Scores(*row))
            for (id_, pixels), row in zip(pictures.items(), rows, strict=True)
        ]

    def _annotation(self, id_: str, pixels: Pixels, scores: _Scores) -> Annotation:
        tags = self._tags(scores)
        facets, sure = self._facets(scores.evidence)
        flags = {flag: float(scores.flags[self._column[flag]]) for flag in self._settings.flags}
        confidence = {f"tag:{tag}": chance for tag, chance in tags.items()} | sure
        confidence |= {flag: max(chance, 1 - chance) for flag, chance in flags.items()}
        return Annotation(
            picture_id=id_,
            facets=facets,
            flags={flag: chance >= 0.5 for flag, chance in flags.items() if self._is_sure(chance)},
            tags=tuple(tags),
            confidence={name: round(chance, 3) for name, chance in confidence.items()},
            by=BY,
            cost_usd=0.0,
            extra=_looks(measure_appearance(pixels))
            | ({} if self._words is None else {"words": self._words.read(pixels)}),
        )

    def _tags(self, scores: _Scores) -> dict[str, float]:
        """Words of the vocabulary; without one, names of classes."""
        vocabulary, names = self._settings.vocabulary, class_names()
        found = {names[at][0]: float(scores.classes[at]) for at in np.flatnonzero(scores.classes >= self._threshold)}
        if vocabulary:
            by_score = {word: float(scores.words[self._column[word]]) for word in vocabulary}
            found = {word: max(chance, found.get(word, 0.0)) for word, chance in by_score.items()}
        sure = [item for item in found.items() if item[1] >= self._threshold]
        return dict(sorted(sure, key=lambda item: -item[1])[: self._settings.max_tags])

    def _facets(self, evidence: NDArray[np.float64]) -> tuple[dict[str, str], dict[str, float]]:
        """One value of each facet, or none: the values compete with each other and with "none of them"."""
        values, sure = {}, {}
        lowest = max(self._threshold, FACET_SURE)
        for facet, choices in self._settings.taxonomy.items():
            shares = facet_shares(evidence[None, [self._column[choice] for choice in choices]])
            sure[facet] = float(calibration().facets(shares)[0]) if choices else 0.0
            values[facet] = choices[int(shares.argmax())] if choices and sure[facet] >= lowest else UNKNOWN
        return values, sure

    def _is_sure(self, chance: float) -> bool:
        return max(chance, 1 - chance) >= max(self._threshold, _FLAG_SURE)


def annotate(
    embedder: Photos,
    pictures: Mapping[str, Pixels],
    settings: AnnotateSettings | None = None,
    *,
    threshold: float = THRESHOLD,
    words: WordReader | None = None,
) -> list[Annotation]:
    """Annotate pictures by id; see `Annotator`, which keeps the embedded texts for the next pictures."""
    return Annotator(embedder, settings, threshold=threshold, words=words)(pictures)


def _as_text(name: str) -> str:
    """`has_people` → "people": a name of a flag, a facet's value or a tag as words."""
    return _QUESTION.sub("", name).replace("_", " ").strip() or name


def _looks(look: Appearance) -> dict[str, Json]:
    colours: list[Json] = [name for name, share in look.colours.items() if share >= COLOUR_SHARE]
    sharp = look.sharp
    word = UNKNOWN if max(sharp, 1 - sharp) < _SHARP_SURE else "sharp" if sharp > 0.5 else "blurred"
    return {
        "colours": colours,
        "colour_shares": {name: share for name, share in look.colours.items() if share > 0},
        "light": look.light,
        "lightness": round(look.lightness, 3),
        "sharpness": word,
        "sharp_confidence": round(max(sharp, 1 - sharp), 3),
        "people": UNKNOWN,
    }


@dataclass(frozen=True, slots=True)
class WeakJudgment:
    """The chance that the picture fits the query, and what follows from it, if anything."""

    chance: float
    verdict: Literal["relevant", "not relevant", "unknown"]
    by: str = BY
    weak: Literal[True] = True

    @classmethod
    def of(cls, chance: float) -> WeakJudgment:
        """With the verdict that the chance allows."""
        return cls(round(chance, 3), _verdict(chance))


def judge(embedder: Photos, query: str, pictures: Sequence[Pixels]) -> list[WeakJudgment]:
    """One judgment for each picture. English queries; colours, counts and who does what to whom are beyond it."""
    return judge_vectors(embedder.texts([query]), embedder.pictures(pictures))


def judge_vectors(query: Vectors, pictures: Vectors, among: float = 0.5) -> list[WeakJudgment]:
    """The same from vectors that are there already: one row for the query, one for each picture.

    `among` is the share of pictures that fit where these come from: the same likeness means less where few do.
    """
    chances = calibration().sentences(query, pictures)[:, 0]
    fits, fits_not = chances * among, (1 - chances) * (1 - among)
    return [WeakJudgment.of(float(chance)) for chance in fits / (fits + fits_not)]


def _verdict(chance: float) -> Literal["relevant", "not relevant", "unknown"]:
    if chance >= _SURE:
        return "relevant"
    return "not relevant" if chance <= 1 - _SURE else "unknown"
