"""A plain function as a system under test: `run(benchmark, my_search)`, where `my_search(query, k)` returns ids.

| the function takes | it is given | kinds of task |
|---|---|---|
| `(query)` or `(query, k)` | the words of the task, and how many pictures are wanted | rank, select |
| `(task)` | the `Task`: prompt, pictures, options, scope | all |

A first parameter that is called `task`, or annotated as one, makes the difference; parameters `k` and `bench` (the
benchmark without its truth) are filled wherever they are. What it returns is read as the task asks for it.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from sightline.arguments import checked
from sightline.benchmark.from_tables import RISING, read_ranking, rises
from sightline.benchmark.provenance import SEARCHED_BY
from sightline.class_names import name_of
from sightline.engine.user_functions import UserFunction, call, describe_error, fingerprint, function_name
from sightline.english import counted
from sightline.errors import StoppedError, UserError, require_at_least
from sightline.metrics.choices.parse import parse_choice
from sightline.runs.systems.base import (
    ALL_KINDS,
    Outcome,
    SystemReply,
    as_prediction,
    own_pictures,
    words_of_task,
)
from sightline.types import (
    Benchmark,
    Choice,
    Failure,
    Json,
    LedgerEntry,
    PictureSet,
    Prediction,
    Ranking,
    Task,
    Text,
    Trace,
)
from sightline.types.task import FINDING

_log = logging.getLogger(__name__)
_BENCH = ("bench", "benchmark")
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_IN_ORDER = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True)
class _Call:
    """How a function wants to be called."""

    whole_task: bool
    k: bool = False
    named: tuple[str, ...] = ()

    @classmethod
    def of(cls, function: UserFunction) -> _Call:
        try:
            given = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):  # Of some that are written in C nobody knows.
            return cls(False, k=True)
        ordered = [one for one in given if one.kind in _IN_ORDER]
        if not ordered and all(one.kind is not inspect.Parameter.VAR_POSITIONAL for one in given):
            raise _wrong(function, "takes no query")
        named = tuple(one.name for one in given[1:] if one.kind in _NAMED and one.name in ("k", *_BENCH))
        rest = [one for one in given[1:] if one.default is one.empty and one.name not in named]
        rest = [one for one in rest if one.kind in (*_IN_ORDER, inspect.Parameter.KEYWORD_ONLY)]
        k = bool(rest) and rest[0].kind in _IN_ORDER and "k" not in named
        if len(rest) > k:
            raise _wrong(function, f'also needs "{rest[-1].name}"')
        return cls(bool(ordered) and _is_task(ordered[0]), k, named)


def _is_task(parameter: inspect.Parameter) -> bool:
    said = parameter.annotation
    return parameter.name == "task" or said is Task or (isinstance(said, str) and said.rpartition(".")[2] == "Task")


def _wrong(function: UserFunction, what: str) -> UserError:
    return UserError(
        f"The function {function_name(function)} {what}.",
        "A system takes (query), (query, k) or (task); functools.partial fills in the rest.",
    )


class FunctionSystem:
    """Test a function; what it raises is a failure of the task, with its traceback, and counted.

    Parameters
    ----------
    function:
        `function(query, k)`, `function(query)` or `function(task)`, also asynchronous. For pictures it returns ids or
        `(id, score)` pairs, best first, `{id: score}` or search hits; a set of ids for exactly these pictures. For
        other tasks it returns the text of the answer, or an option's key. A prediction of `sightline` is taken as it
        is. A function that is not asynchronous is called in a thread.
    name:
        What the system is called; the function's name when not given.
    k:
        How many pictures are asked for, and kept.
    concurrency:
        How many tasks are under way at once. One when not given, so that times are the function's own.

    Examples
    --------
    >>> FunctionSystem(lambda query, k: ["a.jpg", "b.jpg"], name="always the same").name
    'always the same'
    """

    @checked
    def __init__(self, function: UserFunction, *, name: str | None = None, k: int = 100, concurrency: int = 1) -> None:
        require_at_least(1, k=k, concurrency=concurrency)
        self._function, self._call, self._k = function, _Call.of(function), k
        self.name = name or function_name(function)
        self.kinds = ALL_KINDS if self._call.whole_task else FINDING
        self.concurrency = concurrency
        self.notes: list[str] = []
        self._unknown = self._rising = 0
        self._embedders: set[str] = set()

    @property
    def parameters(self) -> dict[str, Json]:
        """What tells one version of the function from another; kept in run.json."""
        return {"code": fingerprint(self._function), "k": self._k}

    async def attempt(self, task: Task, bench: Benchmark) -> SystemReply:
        """Call the function, and read what it returns; whatever goes wrong is a failure of this task."""
        if task.kind in FINDING and task.scope.nowhere:
            return as_prediction(task, (), "ranking", scored=False)
        asked: Task | str | Failure = task if self._call.whole_task else words_of_task(task)
        if isinstance(asked, Failure):
            return asked
        if not asked:
            return Failure("empty-query", "The task has no words. A function of (task) is given its pictures too.")
        try:
            said = await self._said(asked, bench)
            return self._with_embedder(said, self._read(said, task, bench), task)
        except StoppedError:
            raise
        except Exception as error:
            _log.debug("task %s: %s failed", task.id, self.name, exc_info=True)
            return Failure("crashed", describe_error(error), retryable=isinstance(error, OSError))

    async def close(self) -> None:
        """Say what was odd about the results."""
        if self._unknown:
            self.notes.append(f"ids that the benchmark does not have, and count as wrong: {self._unknown:,}")
        if self._rising:
            self.notes.append(f"{counted(self._rising, 'ranking has', 'rankings have')} {RISING}")
        self._unknown = self._rising = 0
        self._embedders.clear()

    async def _said(self, asked: Task | str, bench: Benchmark) -> Any:
        known = {"k": self._k, **dict.fromkeys(_BENCH, bench)}
        more = [self._k] if self._call.k else []
        return await call(self._function, asked, *more, **{name: known[name] for name in self._call.named})

    def _with_embedder(self, said: Any, read: SystemReply, task: Task) -> SystemReply:
        """Keep with the run, once, which embedder found the results of `sightline.search`."""
        embedder = getattr(said, "embedder", None)
        if not isinstance(embedder, str) or isinstance(read, Outcome) or embedder in self._embedders:
            return read
        self._embedders.add(embedder)
        return Outcome(read, entries=(LedgerEntry(SEARCHED_BY, embedder, task.id),))

    def _read(self, said: Any, task: Task, bench: Benchmark) -> SystemReply:
        try:
            found = read_reply(said, task)
        except UserError as error:
            return Failure("bad-prediction", error.message)
        if not isinstance(found, Ranking):
            return found
        self._rising += rises(said, found)
        own = own_pictures(task, allowed=False)
        kept = [at for at, picture in enumerate(found.pictures) if picture not in own][: self._k]
        pictures = tuple(found.pictures[at] for at in kept)
        self._unknown += sum(picture not in bench.corpus.pictures for picture in pictures)
        return Ranking(pictures, None if found.scores is None else tuple(found.scores[at] for at in kept))


def read_reply(said: Any, task: Task) -> Prediction | Outcome:
    """What a function returned, as the prediction that the task asks for."""
    if isinstance(said, (Outcome, *get_args(Prediction))):
        return cast("Prediction | Outcome", said)
    if task.kind in FINDING:
        if task.kind == "select" and isinstance(said, set | frozenset):
            ranked = read_ranking(sorted(said, key=str), "The reply")
            return PictureSet(ranked.pictures) if isinstance(ranked, Ranking) else ranked
        return read_ranking(getattr(said, "hits", said), "The reply")
    if task.kind == "describe" and isinstance(said, tuple | list) and len(said) == 2:
        return Trace(_text(said[0], task), _text(said[1], task))
    text = _text(said, task)
    if task.kind == "choose":
        return _choice(text, task)
    return Text(text) if task.kind == "answer" else Trace("", text)


def _text(said: Any, task: Task) -> str:
    if isinstance(said, str) or (isinstance(said, int | float) and not isinstance(said, bool)):
        return str(said)
    raise UserError(f"The reply to a task of the kind {task.kind} must be text; it is {name_of(type(said))}.")


def _choice(text: str, task: Task) -> Choice:
    """A bare key as it is; anything else is read like the reply of a model."""
    keys: Mapping[str, str] = {option.key: option.text for option in task.options}
    return Choice(text) if text in keys else parse_choice(text, keys)
