"""Judging by `builtin/photos`: on this machine, with no key; a weak judge, and said to be one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from sightline.make.judge.groups import Group, Judged
from sightline.make.judge.questions import GRADES, Questions
from sightline.make.judge.verdicts import Verdict
from sightline.make.project import Project
from sightline.make.similarity.vectors import Embedding, embed_listed, embed_words
from sightline.models.asking import Asking
from sightline.models.embedders.session import Session
from sightline.models.photos.annotate import BY
from sightline.models.photos.judge import WeakJudgment, judge_vectors
from sightline.types import Failure, Picture

NAME = BY
WEAK = f"{NAME} is a weak judge: have people check a sample of its labels (reviews.jsonl) before you trust them"


def judge_by_photos(
    groups: Sequence[Group], questions: Questions, project: Project, asking: Asking
) -> Iterator[tuple[Group, Judged]]:
    """Each group with its verdicts; every picture and every query is embedded once, and kept in the workspace."""
    config = project.config
    with Session("photos", project.workspace, config=config, local_only=asking.local_only, asking=asking) as session:
        shown = {picture.id: picture for group in groups for picture in group.pictures}
        pictures = embed_listed(shown.values(), session, config)
        texts = embed_words((group.text for group in groups), session)
        for group in groups:
            yield group, _judged(group, questions, texts, pictures, session)


def _judged(group: Group, questions: Questions, texts: Embedding, pictures: Embedding, session: Session) -> Judged:
    failed = texts.failures.get(group.text)
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
    said = judge_vectors(texts.vectors([group.text], session), rows)
    verdicts = (_verdict(one, picture, group, questions) for one, picture in zip(said, good, strict=True))
    return Judged(tuple(verdicts), failures)


def _verdict(said: WeakJudgment, picture: Picture, group: Group, questions: Questions) -> Verdict:
    """The grade that the chance falls into, of as many equal parts as there are grades."""
    highest = max(GRADES[questions.settings.scale])
    return Verdict(
        task=group.query,
        picture=picture.id,
        judge=group.judge,
        grade=min(highest, int(said.chance * (highest + 1))),
        confidence=round(max(said.chance, 1 - said.chance), 3),
        reason=f"{said.verdict}: chance {said.chance:.2f} by vectors alone",
        at=round(time.time(), 3),
        key=questions.key(group.text, picture),
    )
