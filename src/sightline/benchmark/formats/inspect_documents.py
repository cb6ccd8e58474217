"""The documents of an inspect_ai log: the `.eval` file, a zip of JSON read with limits; a sample for each attempt."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from sightline.benchmark.formats.base import FormatOptions
from sightline.benchmark.formats.replies import reply_text, right_replies, to_exact
from sightline.benchmark.formats.scored_run import OURS, picture_place
from sightline.errors import READ_AGAIN, UserError, needs_extra
from sightline.io.files import write_whole
from sightline.io.jsonl import dump
from sightline.io.unpacked import Growth
from sightline.metrics.scores import TaskScore
from sightline.types import Attempt, Benchmark, Failure, LedgerEntry, Option, Part

HEADER, START = "header.json", "_journal/start.json"
_SAMPLES = "samples/"
_ZSTD = 93
_LOCAL_HEADER = struct.Struct("<26xHH")
_MOST_BYTES = 1 << 30
_FIXED = (1980, 1, 1, 0, 0, 0)
_COUNTS = ("input_tokens", "output_tokens", "total_tokens", "input_tokens_cache_read", "reasoning_tokens")


def parse(content: bytes, where: str) -> Any:
    """A JSON document as inspect_ai writes it, in which NaN may stand."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where}: expected JSON: {error}.", "copy the log again") from error


class EvalFile:
    """The documents of a log that is open for reading."""

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self._path = path
        self._file = file
        self._growth = Growth(path, "write it as .json: inspect log convert --to json")
        self._names = dict.fromkeys(file.namelist())  # A sample that was logged again counts once, as it was last.

    def header(self) -> Any:
        """What the log says of the whole evaluation; of one that was stopped, what it began with."""
        name = next((name for name in (HEADER, START) if name in self._names), None)
        if name is None:
            raise UserError(f"{self._path} has no {HEADER}.", "is it a log of inspect_ai?")
        return self.document(name)

    def samples(self) -> Iterator[tuple[str, Any]]:
        """The samples, one at a time, with their names in the file."""
        for name in self._names:
            if name.startswith(_SAMPLES) and name.endswith(".json"):
                yield name, self.document(name)

    def document(self, name: str) -> Any:
        """One JSON document."""
        info = self._file.getinfo(name)
        if info.file_size > _MOST_BYTES:
            raise UserError(f"{self._path}, {name}: {info.file_size:,} bytes are too many.", "split the log")
        self._growth.add(info.file_size)
        content = self._zstd(info) if info.compress_type == _ZSTD else self._file.read(info)
        return parse(content, f"{self._path}, {name}")

    def _zstd(self, info: zipfile.ZipInfo) -> bytes:
        """zipfile knows this compression from Python 3.14 on; Arrow has it for all versions."""
        with needs_extra("reading this log's compression (zstd)", "parquet"):
            import pyarrow as pa
        source = self._file.fp
        assert source is not None
        source.seek(info.header_offset)
        name_length, extra_length = _LOCAL_HEADER.unpack(source.read(_LOCAL_HEADER.size))
        source.seek(info.header_offset + _LOCAL_HEADER.size + name_length + extra_length)
        packed = pa.BufferReader(source.read(info.compress_size))
        with pa.CompressedInputStream(packed, "zstd") as stream:
            content: bytes = stream.read(info.file_size)
        if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
            raise zipfile.BadZipFile(f"{info.filename} is damaged")
        return content


@contextmanager
def open_eval(path: Path) -> Iterator[EvalFile]:
    """A log to be read; damage becomes a message."""
    try:
        with zipfile.ZipFile(path) as file:
            yield EvalFile(path, file)
    except (zipfile.BadZipFile, EOFError, zlib.error, NotImplementedError, RuntimeError) as error:
        raise UserError(f"{path} can't be read as a log: {error}.", "copy it again") from error
    except OSError as error:
        raise UserError(f"{path} can't be read: {error.strerror or error}.", READ_AGAIN) from error


def write_eval(path: Path, documents: Iterable[tuple[str, Any]]) -> None:
    """Write documents by name, whole or not at all; the same content gives the same bytes."""
    with TemporaryFile() as place:
        with zipfile.ZipFile(place, "w") as file:
            for name, document in documents:
                info = zipfile.ZipInfo(name, _FIXED)
                info.compress_type = zipfile.ZIP_DEFLATED
                file.writestr(info, dump(document))
        place.seek(0)
        write_whole(path, iter(lambda: place.read(1 << 20), b""))


def sample_document(
    benchmark: Benchmark, system: str, attempt: Attempt, row: TaskScore, options: FormatOptions
) -> dict[str, Any]:
    """The sample: what was asked, what was said, and its scores; pictures stand by their paths."""
    task = benchmark.tasks[attempt.task_id]
    asked = {"role": "user", "content": _content(task.prompt, benchmark, options)}
    failure = attempt.prediction if isinstance(attempt.prediction, Failure) else None
    text = reply_text(attempt.prediction)
    reply = {"role": "assistant", "content": text, "model": system, "source": "generate"}
    choices = [] if failure else [{"message": reply, "stop_reason": "stop"}]
    target = right_replies(benchmark.truth.get(task.id))
    sample = {
        "id": task.id,
        "epoch": attempt.number + 1,
        "input": [asked] if task.pictures else task.text,
        "target": target[0] if len(target) == 1 else target,
        "messages": [asked, *([] if failure else [reply])],
        "output": {
            "model": system,
            "choices": choices,
            "completion": text,
            "metadata": {OURS: to_exact(attempt.prediction)},
        },
        "scores": {
            metric: {"value": value, "answer": text} for metric, value in row.values.items() if value is not None
        },
        "metadata": {
            "kind": task.kind,
            **{name: values[0] if len(values) == 1 else list(values) for name, values in task.labels.items()},
        },
    }
    if task.options:
        sample["choices"] = [_option(option) for option in task.options]
    if failure:
        sample["error"] = {"message": f"{failure.kind}: {failure.message}", "traceback": "", "traceback_ansi": ""}
    return sample


def summary_of(sample: Mapping[str, Any]) -> dict[str, Any]:
    """The line of a sample in the log's list."""
    kept = ("id", "epoch", "choices", "target", "metadata", "scores", "model_usage", "total_time")
    question = sample["input"]
    return {
        **{name: sample[name] for name in kept if name in sample},
        "input": question if isinstance(question, str) else _words(question[0]["content"]),
        **({"error": sample["error"]["message"]} if "error" in sample else {}),
        "completed": True,
        "message_count": len(sample["messages"]),
    }


def usage(calls: Iterable[LedgerEntry]) -> dict[str, Any]:
    """Tokens and money by model; pictures are input, and reasoning is part of the output."""
    found: dict[str, dict[str, Any]] = {}
    for call in calls:
        known = found.setdefault(call.model, dict.fromkeys(_COUNTS, 0))
        known["input_tokens"] += call.tokens_in + call.tokens_image
        known["input_tokens_cache_read"] += call.tokens_cached
        known["output_tokens"] += call.tokens_out + call.tokens_reasoning
        known["reasoning_tokens"] += call.tokens_reasoning
        known["total_tokens"] = known["input_tokens"] + known["input_tokens_cache_read"] + known["output_tokens"]
        if call.usd is not None:
            known["total_cost"] = known.get("total_cost", 0.0) + call.usd
    return found


def calls_of(task: str | None, used: object, seconds: float | None = None) -> list[LedgerEntry]:
    """The inverse of `usage`: an entry for each model; the time stands with the first."""
    entries: list[LedgerEntry] = []
    for model, counts in used.items() if isinstance(used, dict) else ():
        if not isinstance(counts, dict):
            continue
        reasoning, written = _count(counts, "reasoning_tokens"), _count(counts, "input_tokens_cache_write")
        cost = counts.get("total_cost")
        entries.append(
            LedgerEntry(
                stage="run",
                model=str(model) or "unknown",
                task_id=task,
                tokens_in=_count(counts, "input_tokens") + written,
                tokens_cached=_count(counts, "input_tokens_cache_read"),
                tokens_out=max(0, _count(counts, "output_tokens") - reasoning),
                tokens_reasoning=reasoning,
                usd=cost if isinstance(cost, float | int) and cost >= 0 else None,
                seconds=None if entries else seconds,
            )
        )
    return entries


def _count(counts: Mapping[str, Any], name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) and value >= 0 else 0


def _content(parts: Iterable[Part], benchmark: Benchmark, options: FormatOptions) -> list[dict[str, str]]:
    return [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image", "image": picture_place(benchmark, part.id, options)}
        for part in parts
    ]


def _option(option: Option) -> str:
    return "".join(part if isinstance(part, str) else f"[{part.id}]" for part in option.content)


def _words(content: Iterable[Mapping[str, str]]) -> str:
    return "".join(part["text"] if part["type"] == "text" else "(Image)" for part in content)
