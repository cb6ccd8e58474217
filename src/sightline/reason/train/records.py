"""Records of a curriculum as `sightline curriculum` writes it: stages.json, and a file of JSON lines for each stage.

And the evaluation questions that are asked after each stage: where they come from, and for which steps they ask.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from PIL import Image

from sightline.errors import UserError

STAGES = "stages.json"
"""The list of the stages, in the folder of a curriculum."""
IMAGE_MARK = "<image>"
"""Where a picture stands in a message."""
_OPTION = re.compile(r"^(?P<key>\S{1,4})\. (?P<text>.*)$", re.MULTILINE)
_GIVEN = "\n\nGiven:\n"
_USUAL = dict.fromkeys("ABCD", "")
_BOM = b"\xef\xbb\xbf"
_SMALL = (64, 64)
_AGAIN = "make the curriculum again: sightline curriculum"
_BENCHMARK = "benchmark.json"
_GIVE = "give a benchmark, a curriculum or a file of records with answers"
_STEP = r"(?:Summary|Caption|Text-to-Region|Region-to-Region|Conclusion)"
_ENDING = re.compile(rf"\n\nWrite: {_STEP}(?:, {_STEP})*\.\Z")


@dataclass(frozen=True, slots=True)
class TrainRecord:
    """A conversation that ends with what is to be learnt; `answer` is the right option of a question, where known.

    `task` is the question that it is about, which other records may be about too; `is_helped` where the question comes
    with steps to its answer. `stated` are the keys and texts of its options, where the record has them. `place` is the
    file and line that it was read from; `follows` where it is asked for the steps that the training teaches, and not as
    it is written.
    """

    id: str
    messages: tuple[Mapping[str, str], ...]
    images: tuple[Path, ...]
    answer: str | None = None
    task: str = ""
    is_helped: bool = False
    stated: Mapping[str, str] | None = None
    place: str = ""
    follows: bool = False

    @property
    def prompt(self) -> str:
        return self.messages[-2]["content"]

    @property
    def target(self) -> str:
        return self.messages[-1]["content"]

    @property
    def options(self) -> Mapping[str, str]:
        """The keys and texts of its options: as stated, else of the last list under "Options:", else A to D."""
        if self.stated:
            return self.stated
        _, *lists = self.prompt.replace("\r\n", "\n").split("Options:\n")
        found = (dict(_OPTION.findall(listed.partition("\n\n")[0])) for listed in reversed(lists))
        options = next((each for each in found if each), _USUAL)
        return {key: "" if IMAGE_MARK in text else text for key, text in options.items()}


@dataclass(frozen=True, slots=True)
class StageFile:
    """One stage of a curriculum: a file, or `count` lines of one from its line `first` on, where stages share it."""

    name: str
    phase: str
    file: Path
    first: int = 1
    count: int | None = None


def read_stages(folder: Path, wanted: Sequence[str] = ()) -> list[StageFile]:
    """The stages in the order of the training, or only those that are wanted, in the same order."""
    index = folder / STAGES
    if not index.is_file():
        raise UserError(
            f"{folder}: this is not a curriculum, for it has no {STAGES}.", "make one: sightline curriculum"
        )
    rows = _parsed(index.read_bytes().removeprefix(_BOM), str(index))
    if not isinstance(rows, list) or not rows:
        raise UserError(f"{index}: there are no stages in it.", "make it again: sightline curriculum")
    try:
        stages = [_stage(row, folder) for row in rows]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UserError(
            f'{index}: each stage needs "name" and "file".', "make it again: sightline curriculum"
        ) from None
    names = [stage.name for stage in stages]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f'{index}: two stages are called "{twice}".', "give each stage a name of its own")
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise UserError(f'{index}: there is no stage "{unknown[0]}".', f"choose from: {', '.join(names)}")
    return [stage for stage in stages if not wanted or stage.name in wanted]


def _stage(row: Mapping[str, Any], folder: Path) -> StageFile:
    if not isinstance(row["name"], str):
        raise TypeError
    first = row.get("first_line")
    part = {} if first is None else {"first": int(first), "count": int(row["records"])}
    return StageFile(row["name"], row.get("phase", ""), folder / row["file"], **part)


def read_stage(stage: StageFile) -> list[TrainRecord]:
    """The records of a stage."""
    return read_records(stage.file, stage.first, stage.count)


def read_records(file: Path, first: int = 1, count: int | None = None) -> list[TrainRecord]:
    """The records of a file or of some of its lines, each checked; paths of pictures are taken from its folder."""
    if not file.is_file():
        raise UserError(f"{file}: there is no such file.", _AGAIN)
    found = list(_records(file, first, count))
    if len(found) < (count or 1):
        there = f"there are only {len(found)} of the {count} records" if found else "there is no record"
        raise UserError(f"{file}: {there} in it.", f"put them there, or {_AGAIN}")
    return found


def _records(file: Path, first: int, count: int | None) -> Iterator[TrainRecord]:
    last = None if count is None else first - 1 + count
    with file.open("rb") as lines:
        for number, line in islice(enumerate(lines, 1), first - 1, last):
            where = f"{file}:{number}"
            bare = line.removeprefix(_BOM).strip()
            if bare.startswith(b"["):  # One array with all records, as LLaVA has it.
                raise _other_format(where)
            if bare:
                yield _record(_parsed(bare, where), file.parent, where)


def _parsed(text: bytes, where: str) -> Any:
    try:
        return json.loads(text.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UserError(f"{where}: this is not UTF-8: {error}.", f"save it as UTF-8, or {_AGAIN}") from None
    except ValueError as error:
        raise UserError(f"{where}: this is not JSON: {error}.", f"correct it, or {_AGAIN}") from None


def _other_format(where: str) -> UserError:
    return UserError(
        f'{where}: train does not read this format: "messages" must be a list of {{"role", "content"}}.',
        "see docs/training.md; of the formats of curriculum, sightline, ms-swift and llama-factory have them",
    )


def _record(row: Any, folder: Path, where: str) -> TrainRecord:
    messages = row.get("messages") if isinstance(row, dict) else None
    if not isinstance(messages, list) or not all(_is_message(message) for message in messages):
        raise _other_format(where)
    if len(messages) < 2 or messages[-1]["role"] != "assistant":
        raise UserError(f"{where}: the last message is not the assistant's, so there is nothing to learn.", "give one")
    named = row.get("images", [])
    if not isinstance(named, list) or not all(isinstance(name, str) for name in named):
        raise UserError(f'{where}: "images" must be a list of paths.', 'for example "images": ["pictures/1.jpg"]')
    images = tuple(folder / name for name in named)
    places = sum(message["content"].count(IMAGE_MARK) for message in messages)
    if places != len(images):
        fix = f"write {IMAGE_MARK} where each picture stands"
        raise UserError(f"{where}: {places} places for pictures, but {len(images)} pictures.", fix)
    missing = [image for image in images if not image.is_file()]
    if missing:
        raise UserError(f"{where}: the picture {missing[0]} is not there.", "paths are taken from the file's folder")
    options = row.get("options")
    if options is not None and not _is_texts(options):
        raise UserError(f'{where}: "options" must be texts by their keys.', "see docs/training.md")
    name = _named(row.get("id"), where)
    return TrainRecord(
        name,
        tuple(messages),
        images,
        row.get("answer"),
        _named(row.get("task"), name),
        is_helped=bool(row.get("given", _GIVEN in messages[-2]["content"])),
        stated=options,
        place=where,
    )


def check_pictures(records: Iterable[TrainRecord]) -> None:
    """Decode every picture once, so that a damaged one is named before the training and does not end it later."""
    images = dict.fromkeys(image for record in records for image in record.images)
    with ThreadPoolExecutor() as pool:
        faults = [fault for fault in pool.map(_fault, images) if fault is not None]
    if faults:
        more = f" ({len(faults):,} pictures in all)" if len(faults) > 1 else ""
        raise UserError(f"{faults[0]}{more}.", "replace the picture, or make the curriculum again with --drop")


def _fault(image: Path) -> str | None:
    try:
        with Image.open(image) as found:
            found.draft("RGB", _SMALL)  # A JPEG is read to its end, but not drawn at its full size.
            found.load()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        return f"{image}: this picture can't be read: {error}".rstrip(".")
    return None


def _named(name: Any, otherwise: str) -> str:
    return otherwise if name is None else str(name)


def _is_texts(options: Any) -> bool:
    return isinstance(options, dict) and all(isinstance(text, str) for text in options.values())


def _is_message(message: Any) -> bool:
    return (
        isinstance(message, dict) and isinstance(message.get("role"), str) and isinstance(message.get("content"), str)
    )


def digest(stages: Sequence[StageFile]) -> str:
    """Tells one curriculum from another: a training goes on only with the one that it was begun with."""
    found = sha256()
    for stage in stages:
        found.update(stage.name.encode())
        if stage.count is not None:
            found.update(f"{stage.first} {stage.count}".encode())
        found.update(stage.file.read_bytes())
    return found.hexdigest()[:16]


def read_questions(path: Path) -> list[TrainRecord]:
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


def _check_answer(record: TrainRecord) -> None:
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


def endings(stages: Mapping[str, Sequence[TrainRecord]]) -> dict[str, str]:
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


def _ending(records: Sequence[TrainRecord]) -> str:
    """The commonest ending of the questions that come without steps: a stage may mix in some of earlier ones."""
    asked = (_ENDING.search(record.prompt) for record in records if not record.is_helped)
    common = Counter(found[0] for found in asked if found).most_common(1)
    return common[0][0] if common else ""


def as_taught(record: TrainRecord, ending: str) -> TrainRecord:
    """A question that follows the training, for the steps of this ending; any other as it is."""
    if not (record.follows and ending):
        return record
    asked = {**record.messages[-2], "content": _ENDING.sub(ending, record.prompt)}
    return replace(record, messages=(*record.messages[:-2], asked, record.messages[-1]))


def digest_of(questions: Sequence[TrainRecord]) -> str:
    """Tells one set of questions from another of the same name, wherever the two lie."""
    found = sha256()
    for one in questions:
        images = [image.name for image in one.images]
        found.update(json.dumps([one.prompt, images, dict(one.options), one.answer]).encode())
    return found.hexdigest()[:16]
