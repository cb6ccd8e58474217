"""The questions that are asked after each stage: where they come from, and for which steps they ask."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from sightline.errors import UserError
from sightline.train.records import STAGES, Record, StageFile, read_stage, read_stages

_BENCHMARK = "benchmark.json"
_GIVE = "give a benchmark, a curriculum or a file of records with answers"
_STEP = r"(?:Summary|Caption|Text-to-Region|Region-to-Region|Conclusion)"
_ENDING = re.compile(rf"\n\nWrite: {_STEP}(?:, {_STEP})*\.\Z")


def read_questions(path: Path) -> list[Record]:
    """Questions to ask after each stage: a file of records with "answer", or a curriculum.

    Of a curriculum, those of the last stage that asks without giving steps. Each question is asked once.
    """
    if not path.exists():
        raise UserError(f"{path}: there is nothing of this name.", _GIVE)
    is_curriculum = path.is_dir()
    if (path / _BENCHMARK).is_file() and not (path / STAGES).is_file():
        raise UserError(
            f"{path}: this is a benchmark, which only `sightline train` reads.",
            "use that, or make a curriculum of it and give that: sightline curriculum",
        )
    for stage in reversed(read_stages(path)) if is_curriculum else [StageFile("", "", path)]:
        asked = [record for record in read_stage(stage) if not (is_curriculum and record.is_helped)]
        records = [replace(one, follows=is_curriculum) for one in {one.task: one for one in asked}.values()]
        if any(record.answer is None for record in records):
            raise UserError(
                f'{stage.file}: not every record has an "answer".', "give records with the key of the right option"
            )
        for record in records:
            _check_answer(record)
        if records:
            return records
    what = "questions without given steps" if is_curriculum else "records"
    raise UserError(f"{path}: there are no {what}.", _GIVE)


def _check_answer(record: Record) -> None:
    keys = list(record.options)
    if record.answer not in keys:
        listed = ", ".join(json.dumps(key, ensure_ascii=False) for key in keys)
        answer = json.dumps(record.answer, ensure_ascii=False)
        raise UserError(
            f"{record.place}: the answer {answer} is none of the options, which are {listed}.",
            'write the key of the right option as "answer", or state the options as "options"',
        )


def by_name(paths: Iterable[Path]) -> dict[str, Path]:
    """A name for each, by which its scores are told apart: that of the file or folder, with more of its path if needed.

    The same place twice is asked once.
    """
    places = list(dict.fromkeys(path.resolve() for path in paths))
    for parts in range(1, max((len(place.parts) for place in places), default=0) + 1):
        names = ["/".join((*place.parts[-parts:-1], place.stem)) for place in places]
        if len({*names}) == len(names):
            return dict(zip(names, places, strict=True))
    return {str(place): place for place in places}


def endings(stages: Mapping[str, Sequence[Record]]) -> dict[str, str]:
    """What a question ends with after each stage: the steps of the latest stage so far that gives none.

    Before there was one, those of the next; an empty text where no stage says so.
    """
    own = {name: _ending(records) for name, records in stages.items()}
    latest = next((ending for ending in own.values() if ending), "")
    found = {}
    for name, ending in own.items():
        latest = ending or latest
        found[name] = latest
    return found


def _ending(records: Sequence[Record]) -> str:
    """The commonest ending of the questions that come without steps: a stage may mix in some of earlier ones."""
    asked = (_ENDING.search(record.prompt) for record in records if not record.is_helped)
    common = Counter(found[0] for found in asked if found).most_common(1)
    return common[0][0] if common else ""


def as_taught(record: Record, ending: str) -> Record:
    """A question that follows the training, for the steps of this ending; any other as it is."""
    if not (record.follows and ending):
        return record
    asked = {**record.messages[-2], "content": _ENDING.sub(ending, record.prompt)}
    return replace(record, messages=(*record.messages[:-2], asked, record.messages[-1]))


def digest_of(questions: Sequence[Record]) -> str:
    """Tells one set of questions from another of the same name, wherever the two lie."""
    found = sha256()
    for one in questions:
        images = [image.name for image in one.images]
        found.update(json.dumps([one.prompt, images, dict(one.options), one.answer]).encode())
    return found.hexdigest()[:16]
