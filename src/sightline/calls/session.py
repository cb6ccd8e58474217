"""How models are called: the options of a run, the session that holds them, and the task that a call is made for.

The task is held in context variables, so that it need not be handed down through every function.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial, update_wrapper
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import sightline
from sightline.arguments import checked
from sightline.config import Config, load
from sightline.config.sources import DEFAULT_FILE
from sightline.errors import UserError
from sightline.io.files import PathLike, as_path
from sightline.io.workspace import default_workspace
from sightline.models.providers import NO_KEY_HINT
from sightline.models.wire_settings import Api

if TYPE_CHECKING:
    from sightline.calls.budget import BudgetLike
    from sightline.calls.rate_limit import RateLimits
    from sightline.calls.stages import SharedServices

Resource = TypeVar("Resource", bound=AbstractContextManager[Any])


@dataclass(frozen=True, slots=True)
class CallOptions:
    """How models are asked; a budget may be shared by several of them."""

    base_url: str | None = None
    api: Api | None = None
    budget: BudgetLike | None = None
    limits: RateLimits | None = None
    plan: bool = False
    "Ask nobody: only plans may be made, and no key is needed."
    fresh: bool = False
    "Ignore cached replies and ask again."
    local_only: bool = False
    "Refuse a model elsewhere."
    vouched: bool = True
    "The user named the address, and not a file that may come from anybody: keys of own servers may go there."
    instead: str = NO_KEY_HINT
    "What is offered to somebody who has no key."
    shared: SharedServices | None = None
    "Journal, budget and limits of all who work on the same, where this is a worker of a cluster."


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Session:
    """Where work is done and how models are called: `with Session("ws", budget="5usd", local_only=True) as session:`.

    Every verb of `sightline` is a method of it: `session.search("a red bicycle")`. Inside the `with` block the embedder
    and the index of a search stay open for the next one; without it, each call opens and closes what it needs.

    Parameters
    ----------
    workspace:
        Where Sightline keeps what it knows; when not given, `$SIGHTLINE_WORKSPACE`, else the nearest
        `.sightline` at or above the working directory, else one for each user in the platform's data folder.
    config:
        The settings, or the path of a `sightline.toml`; the built-in defaults when not given.
    calls:
        How models are called, in full; the options below change single fields of it.
    engine:
        Where many calls are made: on this machine, or on a cluster (`ray`, `ray:ADDRESS`).
    budget:
        The most that may be spent, such as "5usd" or 5; a budget may be shared by several sessions.
    local_only:
        Refuse any call that leaves this machine.
    base_url:
        The address of the server, when it is not the usual one of the provider.
    max_connections:
        The largest number of calls at once.
    fresh:
        Ignore cached replies.
    seed:
        Makes random choices repeatable.
    config_path:
        The file that the settings come from, where `config` is not its path; `make` reads it before each stage, and
        writes a proposed taxonomy to it. It is `sightline.toml` where there is no `config`.
    """

    workspace: Path
    config: Config
    calls: CallOptions
    engine: str
    seed: int | None
    config_path: Path | None
    _resources: _Resources | None = field(init=False, compare=False)

    @checked
    def __init__(
        self,
        workspace: PathLike | None = None,
        config: Config | PathLike | None = None,
        calls: CallOptions | None = None,
        engine: str = "local",
        *,
        budget: str | float | BudgetLike | None = None,
        local_only: bool | None = None,
        base_url: str | None = None,
        max_connections: int | None = None,
        fresh: bool | None = None,
        seed: int | None = None,
        config_path: PathLike | None = None,
    ) -> None:
        if engine != "local":
            from sightline.engine.cluster import EngineChoice

            EngineChoice.parse(engine)
        given: dict[str, Any] = {"base_url": base_url, "local_only": local_only, "fresh": fresh}
        if budget is not None:
            given["budget"] = _budget(budget)
        if max_connections is not None:
            given["limits"] = _limits(max_connections)
        changes = {name: value for name, value in given.items() if value is not None}
        for name, value in {
            "workspace": default_workspace() if workspace is None else as_path(workspace, "a workspace"),
            "config": _config(config),
            "calls": replace(calls or CallOptions(), **changes),
            "engine": engine,
            "seed": seed,
            "config_path": _config_path(config, config_path),
            "_resources": None,
        }.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, session: Session | None, workspace: PathLike | None = None) -> Session:
        """The session that a verb works with: the one given, else a default one in the workspace."""
        if session is None:
            return cls(workspace)
        return session if workspace is None else replace(session, workspace=as_path(workspace, "a workspace"))

    def with_calls(self, **changes: Any) -> Session:
        """The same session with other fields of its `CallOptions`."""
        return replace(self, calls=replace(self.calls, **changes))

    def __repr__(self) -> str:
        return f"Session({str(self.workspace)!r})"

    def __reduce__(self) -> tuple[Any, ...]:  # What is open stays where it is.
        settings = (self.workspace, self.config, self.calls, self.engine)
        return partial(Session, seed=self.seed, config_path=self.config_path), settings

    def __enter__(self) -> Session:
        if self._resources is None:
            object.__setattr__(self, "_resources", _Resources())
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release what the session holds open."""
        if self._resources is not None:
            self._resources.close()
            object.__setattr__(self, "_resources", None)

    @contextmanager
    def opened(self, key: object, open_: Callable[[], Resource], stamp: object = None) -> Iterator[Resource]:
        """What takes time to open: kept for the next call inside a `with` block of the session, else closed at the end.

        With another `stamp` than that of the one that is kept, it is opened again.
        """
        if self._resources is not None:
            yield self._resources.get(key, open_, stamp)
            return
        with open_() as resource:
            yield resource

    if TYPE_CHECKING:  # Editors and type checkers see each verb with its own parameters.
        ablate = staticmethod(sightline.ablate)
        ask = staticmethod(sightline.ask)
        assess = staticmethod(sightline.assess)
        check_steps = staticmethod(sightline.check_steps)
        compare = staticmethod(sightline.compare)
        curriculum = staticmethod(sightline.curriculum)
        difficulty = staticmethod(sightline.difficulty)
        drift = staticmethod(sightline.drift)
        embed = staticmethod(sightline.embed)
        export_files = staticmethod(sightline.export_files)
        extend = staticmethod(sightline.extend)
        import_files = staticmethod(sightline.import_files)
        index = staticmethod(sightline.index)
        leaderboard = staticmethod(sightline.leaderboard)
        load = staticmethod(sightline.load)
        make = staticmethod(sightline.make)
        mine = staticmethod(sightline.mine)
        mine_questions = staticmethod(sightline.mine_questions)
        power = staticmethod(sightline.power)
        report = staticmethod(sightline.report)
        run = staticmethod(sightline.run)
        scan = staticmethod(sightline.scan)
        score = staticmethod(sightline.score)
        score_trec = staticmethod(sightline.score_trec)
        search = staticmethod(sightline.search)
        split = staticmethod(sightline.split)
        steps = staticmethod(sightline.steps)
        think = staticmethod(sightline.think)
        train = staticmethod(sightline.train)
        validate = staticmethod(sightline.validate)
        view = staticmethod(sightline.view)
        watch = staticmethod(sightline.watch)
    else:

        def __getattr__(self, name: str) -> Callable[..., Any]:
            if name not in sightline.VERBS:
                raise AttributeError(f"Session has no attribute {name!r}")
            verb = getattr(sightline, name)
            if "session" not in signature(verb).parameters:
                return verb
            return update_wrapper(partial(verb, session=self), verb)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *sightline.VERBS})


class _Resources:
    """What a session holds open, by key."""

    def __init__(self) -> None:
        self._held: dict[object, tuple[object, AbstractContextManager[Any]]] = {}
        self._lock = threading.Lock()

    def get(self, key: object, open_: Callable[[], Resource], stamp: object) -> Resource:
        with self._lock:
            held = self._held.get(key)
            if held is None or held[0] != stamp:
                # Whoever still uses the old one may finish: it is closed when nobody holds it any more.
                held = self._held[key] = (stamp, open_())
            resource: Resource = held[1]  # type: ignore[assignment]
            return resource

    def close(self) -> None:
        for _, resource in reversed(self._held.values()):
            resource.__exit__(None, None, None)
        self._held.clear()


def _config(given: Config | PathLike | None) -> Config:
    if given is None or isinstance(given, Config):
        return given or Config()
    return load(as_path(given, "a sightline.toml")).config


def _config_path(config: Config | PathLike | None, path: PathLike | None) -> Path | None:
    if config is None:
        return Path(path or DEFAULT_FILE).expanduser()
    given = path if isinstance(config, Config) else config
    return None if given is None else Path(given).expanduser()


def _budget(given: str | float | BudgetLike) -> BudgetLike:
    from sightline.calls.budget import Budget

    if isinstance(given, str):
        return Budget.parse(given)
    if not isinstance(given, int | float) and not hasattr(given, "settle"):
        raise UserError(f"{given!r:.60} is not a budget.", 'Give an amount, such as "5usd" or 5.')
    return Budget.usd(given) if isinstance(given, int | float) else given


def _limits(most: int) -> RateLimits:
    from sightline.calls.rate_limit import RateLimits

    if most < 1:
        raise UserError("max_connections must be at least 1.", "Leave it out to call as fast as the server allows.")
    return RateLimits(start=min(most, RateLimits().start), most=most)


def require_model(name: str | None) -> str:
    """The name of a model, where one was given or configured."""
    if name is None:
        raise UserError("No model is named.", "Name one, for example --model openai/gpt-5-mini.")
    return name


_TASK: ContextVar[str | None] = ContextVar("sightline_task", default=None)
_AFRESH: ContextVar[bool] = ContextVar("sightline_afresh", default=False)
_REUSED: ContextVar[list[bytes] | None] = ContextVar("sightline_reused", default=None)


@contextmanager
def purpose(task: str | None, *, afresh: bool = False) -> Iterator[None]:
    """`with purpose("q17"): await model.reply(…)`: calls made inside are kept in the journal as made for that task.

    With `afresh` they are made also where the journal has an answer: it is the one that was not good enough.
    """
    tokens = _TASK.set(task), _AFRESH.set(afresh), _REUSED.set([])
    try:
        yield
    finally:
        _TASK.reset(tokens[0])
        _AFRESH.reset(tokens[1])
        _REUSED.reset(tokens[2])


def current_task() -> str | None:
    """The task that calls made here are for."""
    return _TASK.get()


def is_fresh_wanted() -> bool:
    """Are calls made here to be made although the journal has an answer?"""
    return _AFRESH.get()


def note_reuse(key: bytes) -> None:
    """The journal answered this request."""
    reused = _REUSED.get()
    if reused is not None:
        reused.append(key)


def reused_keys() -> tuple[bytes, ...]:
    """The requests that the journal answered for this purpose so far."""
    return tuple(_REUSED.get() or ())
