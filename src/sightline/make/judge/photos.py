"""Judging by `builtin/photos`: on this machine, with no key; a weak judge, and said to be one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sightline.config import Config
from sightline.make.annotate.photos import read_picture
from sightline.make.judge.groups import Group, Judged
from sightline.make.judge.questions import GRADES, Questions
from sightline.make.judge.verdicts import Verdict
from sightline.make.project import Project
from sightline.make.query.english import Measurable, measurable
from sightline.make.query.words import content
from sightline.models.asking import Asking
from sightline.models.embedders.listed import Embedding, embed_listed, embed_words
from sightline.models.embedders.session import Session
from sightline.models.photos.annotate import BY, COLOUR_SHARE
from sightline.models.photos.judge import WeakJudgment, judge_vectors
from sightline.models.photos.looks import Look, look_at
from sightline.types import Failure, Picture

NAME = BY
_SURE = 0.95
"""How sure a measurement is."""
WEAK = f"{NAME} is a weak judge: have people check a sample of its labels (reviews.jsonl) before you trust them"


def judge_by_photos(
    groups: Sequence[Group], questions: Questions, project: Project, asking: Asking
) -> Iterator[tuple[Group, Judged]]:
    """Each group with its verdicts; every picture and every query is embedded once, and kept in the workspace."""
    config = project.config
    looks = Looks(config)
    with Session("photos", project.workspace, config=config, local_only=asking.local_only, asking=asking) as session:
        shown = {picture.id: picture for group in groups for picture in group.pictures}
        pictures = embed_listed(shown.values(), session, config)
        texts = embed_words((_worded(group.text) for group in groups), session)
        for group in groups:
            yield group, _judged(group, questions, texts, pictures, session, looks)


class Looks:
    """Colours and light of pictures, each measured once."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._found: dict[str, Look | None] = {}

    def fits(self, picture: Picture, asked: Measurable) -> bool:
        """Is the picture as the query says, as far as that can be measured?"""
        look = self._look(picture)
        if look is None:
            return False
        widest = max(look.colours, key=lambda name: (look.colours[name], name), default="")
        has_colours = all(look.colours.get(name, 0.0) >= COLOUR_SHARE for name in asked.colours[1:])
        return asked.colours[:1] in ((), (widest,)) and has_colours and asked.light in (None, look.light)

    def _look(self, picture: Picture) -> Look | None:
        if picture.id not in self._found:
            pixels = read_picture(picture, self._config)
            self._found[picture.id] = None if isinstance(pixels, Failure) else look_at(pixels)
        return self._found[picture.id]


def _judged(
    group: Group, questions: Questions, texts: Embedding, pictures: Embedding, session: Session, looks: Looks
) -> Judged:
    asked, words = measurable(group.text), _worded(group.text)
    failed = texts.failures.get(words)
    if failed is not None:
        return Judged(failures={picture.id: failed for picture in group.pictures})
    good = [picture for picture in group.pictures if picture.id in pictures.keys]
    failures = {
        picture.id: Failure("bad-picture", f"{why.kind}: {why.message}")
        for picture in group.pictures
        if (why := pictures.failures.get(picture.id)) is not None
    }
    if not good:
        return Judged(failures=failures)
    rows = pictures.vectors([picture.id for picture in good], session)
    said = judge_vectors(texts.vectors([words], session), rows)
    verdicts = (
        _verdict(*_measured(one, picture, asked, looks), picture, group, questions)
        for one, picture in zip(said, good, strict=True)
    )
    return Judged(tuple(verdicts), failures)


def _worded(query: str) -> str:
    """What of a query is compared with pictures: without what is measured, where more than that is left."""
    rest = measurable(query).rest
    return rest if content(rest) else query


def _measured(said: WeakJudgment, picture: Picture, asked: Measurable, looks: Looks) -> tuple[WeakJudgment, str]:
    """The judgment with what can be measured, and what it rests on: words for colours and light mean little to it."""
    if not asked:
        return said, "by vectors alone"
    if not looks.fits(picture, asked):
        return replace(said, chance=1 - _SURE, verdict="not relevant"), "as its colours and light were measured"
    if not content(asked.rest):
        return replace(said, chance=_SURE, verdict="relevant"), "as its colours and light were measured"
    return said, "by vectors, and as its colours and light were measured"


def _verdict(said: WeakJudgment, how: str, picture: Picture, group: Group, questions: Questions) -> Verdict:
    """The grade that the chance falls into, of as many equal parts as there are grades."""
    highest = max(GRADES[questions.settings.scale])
    return Verdict(
        task=group.query,
        picture=picture.id,
        judge=group.judge,
        grade=min(highest, int(said.chance * (highest + 1))),
        confidence=round(max(said.chance, 1 - said.chance), 3),
        reason=f"{said.verdict}: chance {said.chance:.2f} {how}",
        at=round(time.time(), 3),
        key=questions.key(group.text, picture),
    )
