"""What an agent did, step by step: lines of `RUN/trajectories/TASK.jsonl`, with pictures by hash in `RUN/blobs`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from io import BufferedWriter
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import quote

import orjson
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from sightline.agent.state import PictureView
from sightline.agent.steps_table import end_lines, step_records, steps_html, steps_text
from sightline.benchmark.formats.replies import from_exact
from sightline.display import Table
from sightline.errors import UserError
from sightline.io.files import PathLike, as_path, write_whole
from sightline.io.jsonl import CutOffError, LineError, read_jsonl
from sightline.plain_text import short
from sightline.runs.folder import TRAJECTORIES, blob_path
from sightline.types import Failure, ImagePart, Prediction, TaskKind
from sightline.types.run import answer_text

_LONGEST_NAME = 180


@dataclass(frozen=True, slots=True)
class ViewedPicture:
    """A picture that the model was shown; `sha256` is its blob, None where it could not be read or is on the web.

    `region` is left, top, right, bottom of `picture`, the original in the corpus, in fractions.
    """

    name: str
    sha256: str | None = None
    picture: str | None = None
    region: tuple[float, float, float, float] | None = None
    made_by: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens, money and time of one call; `usd` None means that the price is not known."""

    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0
    image: int = 0
    usd: float | None = None
    seconds: float | None = None
    from_journal: bool = False


@dataclass(frozen=True, slots=True)
class Use:
    """One tool call as the model wrote it, and what was observed."""

    id: str
    tool: str
    arguments: str
    observation: str
    pictures: tuple[ViewedPicture, ...] = ()
    found: tuple[str, ...] = ()
    data: Any = None
    "JSON; what the tool answered as data."
    error: bool = False
    untrusted: bool = False
    saved: dict[str, tuple[str, ...]] = field(default_factory=dict)
    "Named subsets that the call made or changed."
    seconds: float = 0.0
    repeated: bool = False
    "The conversation holds the answer already, so nothing was done."


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool as the model was told of it."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Start:
    """The first line: what was asked, of whom, with which tools and limits."""

    task: str
    attempt: int
    kind: TaskKind
    model: str
    tools: tuple[Offered, ...]
    system: str
    prompt: tuple[str | ViewedPicture, ...]
    options: dict[str, str] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    type: Literal["start"] = "start"

    @property
    def question(self) -> str:
        """The words of the prompt."""
        return "".join(part for part in self.prompt if isinstance(part, str))

    @property
    def pictures(self) -> tuple[ViewedPicture, ...]:
        """The pictures of the prompt."""
        return tuple(part for part in self.prompt if isinstance(part, ViewedPicture))


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of the model and the calls that it led to.

    `request` is the hash of what was asked, `said` that of thought and text. `forced` names the limit that made this
    the last turn; `failure` says why there was no reply.
    """

    number: int
    request: str
    thought: str = ""
    text: str = ""
    uses: tuple[Use, ...] = ()
    cost: Cost = Cost()
    forced: str | None = None
    failure: Failure | None = None
    said: str = ""
    type: Literal["turn"] = "turn"


@dataclass(frozen=True, slots=True)
class Memory:
    """The conversation was replaced by this memory: `why` is tokens, pictures, agent or overflow.

    `made_by` is the model that wrote it, or "outline" where none could and the calls were listed instead.
    """

    why: str
    text: str
    made_by: str
    request: str = ""
    cost: Cost = Cost()
    type: Literal["memory"] = "memory"


@dataclass(frozen=True, slots=True)
class End:
    """The last line: the answer and how it came about.

    `ended` is "finish" (the tool), "text" (in words), "failed"; `forced` the limit that was reached, if one was.
    """

    ended: str
    answer: dict[str, Any]
    "The prediction by its form, as `benchmark.formats.replies.to_exact` writes it."
    forced: str | None = None
    evidence: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    reason: str = ""
    subsets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    turns: int = 0
    tokens: int = 0
    pictures: int = 0
    usd: float | None = None
    seconds: float = 0.0
    type: Literal["end"] = "end"

    @property
    def prediction(self) -> Prediction:
        return from_exact(self.answer) or Failure("unreadable", f"no prediction: {self.answer!r:.80}")


Record: TypeAlias = Start | Turn | Memory | End
_RECORD: TypeAdapter[Record] = TypeAdapter(
    Annotated[Start | Turn | Memory | End, Field(discriminator="type")], config=ConfigDict(extra="forbid")
)


@dataclass(frozen=True, slots=True, repr=False)
class Trajectory(Table[Turn | Memory]):
    """One attempt at one task; `end` is None where it was stopped in the middle.

    Its rows are the steps; a notebook shows them with the pictures that the agent saw, which `folder` holds.
    """

    start: Start
    steps: tuple[Turn | Memory, ...] = ()
    end: End | None = None
    folder: Path | None = field(default=None, compare=False)

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(step for step in self.steps if isinstance(step, Turn))

    @property
    def uses(self) -> Iterator[Use]:
        """All tool calls, in order."""
        return (use for turn in self.turns for use in turn.uses)

    def records(self) -> list[dict[str, Any]]:
        """One flat record for each call, and for each turn or memory that made none."""
        return step_records(self)

    def __str__(self) -> str:
        return f"{self._line()}\n{steps_text(self)}"

    def _rows(self) -> Sequence[Turn | Memory]:
        return self.steps

    def _line(self) -> str:
        said = "no answer" if self.end is None else _answer(self.end.prediction)
        return f"{self.start.task}: {short(self.start.question, 80)} → {said}"

    def _blocks(self) -> Iterable[str]:
        yield from steps_html(self, self.folder)
        yield from end_lines(self)


class Recorder:
    """Takes down an attempt as it goes; into a RUN folder where one is given, and to `watch` where somebody looks."""

    def __init__(self, folder: PathLike | None = None, watch: Callable[[Record], None] | None = None) -> None:
        self.records: list[Record] = []
        self._folder = None if folder is None else Path(folder)
        self._watch = watch
        self._file: BufferedWriter | None = None

    def write(self, record: Record) -> None:
        """Keep a record; it is with the operating system before this returns."""
        if isinstance(record, Start) and self._folder is not None:
            self._file = self._begun(trajectory_path(self._folder, record.task, record.attempt))
        self.records.append(record)
        if self._file is not None:
            self._file.write(to_line(record) + b"\n")
            self._file.flush()
        if isinstance(record, End):
            self.close()
        if self._watch is not None:
            self._watch(record)

    def sight(self, view: PictureView) -> ViewedPicture:
        """A picture as it is written down; its bytes go to the run's blobs, once."""
        box = view.region
        region = None if box is None else (box.left, box.top, box.right, box.bottom)
        return ViewedPicture(view.name, self._kept(view.part), view.picture, region, view.made_by)

    def trajectory(self) -> Trajectory:
        """What was taken down so far."""
        return _joined(self.records, "the attempt")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    @staticmethod
    def _begun(path: Path) -> BufferedWriter:
        """What an attempt that was stopped left is written anew: its calls come from the journal."""
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("wb")

    def _kept(self, part: ImagePart) -> str | None:
        from sightline.models.pictures import is_web, read_source  # Here: trajectories are read without it.

        data = None if part.data is None and is_web(part.source) else read_source(part)
        if data is None or isinstance(data, Failure):
            return None
        name = hashlib.sha256(data).hexdigest()
        if self._folder is not None:
            path = blob_path(self._folder, name)
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, data)
        return name


def words_hash(thought: str, text: str) -> str:
    """What tells that the words of a turn are those that the model said; no later request holds its thoughts."""
    return hashlib.sha256(f"{len(thought)}\0{thought}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()


def trajectory_path(folder: PathLike, task: str, attempt: int = 0) -> Path:
    """Where a run keeps what was done for a task: `TASK.jsonl`, and `TASK@1.jsonl` for the second attempt."""
    name = quote(task, safe=" ")
    if len(name) > _LONGEST_NAME:
        name = f"{name[:100]}-{hashlib.sha256(task.encode()).hexdigest()[:24]}"
    return Path(folder) / TRAJECTORIES / f"{name}{f'@{attempt}' if attempt else ''}.jsonl"


def read_trajectory(folder: PathLike, task: str, attempt: int = 0) -> Trajectory:
    """Read what an agent did for a task of a run.

    Parameters
    ----------
    folder:
        The folder of the run.
    task:
        The id of the task.
    attempt:
        Which attempt at it, from 0.

    Returns
    -------
    Trajectory
        The steps; a notebook shows them with the pictures that the agent saw.

    Examples
    --------
    >>> trajectory = sightline.read_trajectory("agent_run", "red")
    >>> [use.tool for turn in trajectory.turns for use in turn.uses]
    ['search']
    """
    folder = as_path(folder, "a run")
    path = trajectory_path(folder, task, attempt)
    if not path.is_file():
        raise UserError(f'{folder} has no trajectory of attempt {attempt} at "{task}".', _listed(Path(folder)))
    return read_trajectory_file(path)


def read_trajectory_file(path: PathLike) -> Trajectory:
    """The same of one file; a half line at its end is what a stop left."""
    records: list[Record] = []
    with suppress(CutOffError):
        for number, row in read_jsonl(Path(path)):
            records.append(_read(Path(path), number, row))
    return replace(_joined(records, str(path)), folder=Path(path).parent.parent)


def _read(path: Path, number: int, row: Any) -> Record:
    try:
        return _RECORD.validate_json(orjson.dumps(row))
    except ValidationError as error:
        wrong = error.errors()[0]
        raise LineError(path, number, f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}") from error


def trajectories_of(folder: PathLike) -> Iterator[Trajectory]:
    """Every attempt of a run that took notes, in order of file name."""
    for path in sorted((Path(folder) / TRAJECTORIES).glob("*.jsonl")):
        yield read_trajectory_file(path)


def ends_of(folder: PathLike) -> Iterator[End]:
    """How every finished attempt of a run ended, without reading what came before."""
    for path in sorted((Path(folder) / TRAJECTORIES).glob("*.jsonl")):
        lines = path.read_bytes().split(b"\n")
        if len(lines) < 2 or lines[-1]:  # A stop left half a line.
            continue
        row = orjson.loads(lines[-2])
        if isinstance(row, dict) and row.get("type") == "end":
            record = _read(path, len(lines) - 1, row)
            assert isinstance(record, End)
            yield record


def to_line(record: Record) -> bytes:
    """A record as its line, without the end of the line."""
    return _RECORD.dump_json(record)


def _answer(prediction: Prediction) -> str:
    return f"{prediction.kind}: {prediction.message}" if isinstance(prediction, Failure) else answer_text(prediction)


def _joined(records: list[Record], where: str) -> Trajectory:
    if not records or not isinstance(records[0], Start):
        raise UserError(f"{where} is not a trajectory: it has no start record.", "run the task again")
    end = records[-1] if isinstance(records[-1], End) else None
    steps = tuple(record for record in records if isinstance(record, Turn | Memory))
    return Trajectory(records[0], steps, end)


def _listed(folder: Path) -> str:
    names = sorted(path.stem for path in (folder / TRAJECTORIES).glob("*.jsonl"))
    if not names:
        return "only runs of agents have trajectories"
    return f"it has {', '.join(names[:5])}{' …' if len(names) > 5 else ''}"
