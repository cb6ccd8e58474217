"""Judging by `builtin/photos`: on this machine, with no key; a weak judge, and said to be one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sightline.authoring.annotate_photos import read_picture
from sightline.authoring.judge_requests import GRADES, GroupVerdicts, JudgeGroup, JudgeQuestions
from sightline.authoring.judge_verdicts import JudgeVerdict
from sightline.authoring.query_checks import content
from sightline.authoring.query_templates import Measurable, measurable
from sightline.calls.session import Session
from sightline.config import Config
from sightline.models.embedders.bulk_embedding import Embedding, embed_listed, embed_words
from sightline.models.embedders.session import EmbedderSession
from sightline.models.photos.annotator import BY, COLOUR_SHARE, WeakJudgment, judge_vectors, known_words
from sightline.models.photos.appearance import Appearance, measure_appearance
from sightline.models.photos.embedder import Photos
from sightline.types import Failure, Picture

NAME = BY
_SURE = 0.95
"""How sure a measurement is."""
_FITTING = 0.25
"""Of the pictures of a pool, so many fit its query: as many as captions say of pools made of Flickr8k photographs."""
WEAK = f"{NAME} is a weak judge: have people check a sample of its labels (sightline view) before you trust them"


def judge_by_photos(
    groups: Sequence[JudgeGroup], questions: JudgeQuestions, session: Session
) -> Iterator[tuple[JudgeGroup, GroupVerdicts]]:
    """Each group with its verdicts; every picture and every query is embedded once, and kept in the workspace."""
    looks = LookCache(session.config, Photos(local_only=session.calls.local_only))
    with EmbedderSession("photos", session) as embedding:
        shown = {picture.id: picture for group in groups for picture in group.pictures}
        pictures = embed_listed(shown.values(), embedding, session.config)
        texts = embed_words((_worded(group.text) for group in groups), embedding)
        for group in groups:
            yield group, _judged(group, questions, texts, pictures, embedding, looks)


class LookCache:
    """Colours and light of pictures, and the chances of the words that it was trained on, each found once."""

    def __init__(self, config: Config, photos: Photos) -> None:
        self._config, self._photos = config, photos
        self._found: dict[str, Appearance | None] = {}
        self._words: dict[str, NDArray[np.float64] | None] = {}

    def chance(self, picture: Picture, words: Sequence[int]) -> float | None:
        """That people would use all of these words of the picture; None where it can't be read."""
        if picture.id not in self._words:
            pixels = read_picture(picture, self._config)
            seen = None if isinstance(pixels, Failure) else self._photos.see([pixels])
            self._words[picture.id] = None if seen is None else known_words().chances(seen.pooled)[0]
        found = self._words[picture.id]
        return None if found is None else float(found[list(words)].prod())

    def fits(self, picture: Picture, asked: Measurable) -> bool:
        """Is the picture as the query says, as far as that can be measured?"""
        look = self._look(picture)
        if look is None:
            return False
        widest = max(look.colours, key=lambda name: (look.colours[name], name), default="")
        has_colours = all(look.colours.get(name, 0.0) >= COLOUR_SHARE for name in asked.colours[1:])
        return asked.colours[:1] in ((), (widest,)) and has_colours and asked.light in (None, look.light)

    def _look(self, picture: Picture) -> Appearance | None:
        if picture.id not in self._found:
            pixels = read_picture(picture, self._config)
            self._found[picture.id] = None if isinstance(pixels, Failure) else measure_appearance(pixels)
        return self._found[picture.id]


def _judged(
    group: JudgeGroup,
    questions: JudgeQuestions,
    texts: Embedding,
    pictures: Embedding,
    session: EmbedderSession,
    looks: LookCache,
) -> GroupVerdicts:
    asked, words = measurable(group.text), _worded(group.text)
    failed = texts.failures.get(words)
    if failed is not None:
        return GroupVerdicts(failures={picture.id: failed for picture in group.pictures})
    good = [picture for picture in group.pictures if picture.id in pictures.keys]
    failures = {
        picture.id: Failure("bad-picture", f"{why.kind}: {why.message}")
        for picture in group.pictures
        if (why := pictures.failures.get(picture.id)) is not None
    }
    if not good:
        return GroupVerdicts(failures=failures)
    rows = pictures.vectors([picture.id for picture in good], session)
    by_vectors = judge_vectors(texts.vectors([words], session), rows, among=_FITTING)
    by_heart = _known_by_heart(words)
    verdicts = []
    for one, picture in zip(by_vectors, good, strict=True):
        chance = None if by_heart is None else looks.chance(picture, by_heart)
        said = one if chance is None else WeakJudgment.of(chance)
        how = "by vectors" if chance is None else "by words that it was trained on"
        verdicts.append(_verdict(*_measured(said, how, picture, asked, looks), picture, group, questions))
    return GroupVerdicts(tuple(verdicts), failures)


def _known_by_heart(query: str) -> tuple[int, ...] | None:
    """The places of a query's words among those that it was trained on; None where one of them is not."""
    stems = {stem: at for at, word in enumerate(known_words().words) for stem in content(word) if " " not in word}
    words = content(query)
    return tuple(stems[word] for word in words) if words and words <= stems.keys() else None


def _worded(query: str) -> str:
    """What of a query is compared with pictures: without what is measured, where more than that is left."""
    rest = measurable(query).rest
    return rest if content(rest) else query


def _measured(
    said: WeakJudgment, how: str, picture: Picture, asked: Measurable, looks: LookCache
) -> tuple[WeakJudgment, str]:
    """The judgment with what can be measured, and what it rests on: words for colours and light mean little to it."""
    if not asked:
        return said, f"{how} alone"
    if not looks.fits(picture, asked):
        return replace(said, chance=1 - _SURE, verdict="not relevant"), "as its colours and light were measured"
    if not content(asked.rest):
        return replace(said, chance=_SURE, verdict="relevant"), "as its colours and light were measured"
    return said, f"{how}, and as its colours and light were measured"


def _verdict(
    said: WeakJudgment, how: str, picture: Picture, group: JudgeGroup, questions: JudgeQuestions
) -> JudgeVerdict:
    """The grade that the chance falls into, of as many equal parts as there are grades."""
    highest = max(GRADES[questions.settings.scale])
    return JudgeVerdict(
        task=group.query,
        picture=picture.id,
        judge=group.judge,
        grade=min(highest, int(said.chance * (highest + 1))),
        confidence=round(max(said.chance, 1 - said.chance), 3),
        reason=f"{said.verdict}: chance {said.chance:.2f} {how}",
        at=round(time.time(), 3),
        key=questions.key(group.text, picture),
    )
