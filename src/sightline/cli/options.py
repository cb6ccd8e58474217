"""Options that verbs share: the common ones, and those of every verb that asks models.

Also one way to print, and one way to fail.
"""

from __future__ import annotations

import inspect
import logging
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

from cyclopts import Group, Parameter, Token
from cyclopts.validators import Number

from sightline.errors import UserError
from sightline.io.workspace import default_workspace
from sightline.plain_text import printable

if TYPE_CHECKING:
    from rich.console import Console

    from sightline.calls.plan import CostPlan
    from sightline.calls.session import CallOptions, Session
    from sightline.config import Config, Loaded
    from sightline.corpus.album import PictureResult


_log = logging.getLogger(__name__)
_Command = TypeVar("_Command", bound=Callable[..., object])
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
Switch = Annotated[bool, Parameter(negative="", show_default=False)]
"""A flag that has no `--no-` form."""


def whole_number(_: type, tokens: Sequence[Token]) -> int:
    """A whole number as it is written: 1.5 is none, and is not rounded."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f'"{tokens[0].value}" is not a whole number.') from None


Repeated = Annotated[list[str] | None, Parameter(consume_multiple=False, negative="")]
"""Several values: the option once for each."""
Whole = Annotated[int, Parameter(converter=whole_number)]
"""How many: a whole number."""
EngineOption = Annotated[
    str, Parameter(name="--engine", help="Where the work is done: local, ray (see docs/engine.md) or ray:HOST:PORT.")
]
"""For verbs that spread work over a cluster (`engine.spread`, which reads it): `engine: EngineOption = "local"`."""


_PARAMETERS = "\n\nParameters\n----------\n"


def described_by(verb: Callable[..., object]) -> Callable[[_Command], _Command]:
    """Help says of a command's parameters what the verb's docstring says; what the command's own says goes first.

    A parameter that is named in backticks is shown as the option that it is: `base_url` becomes --base-url.
    """

    def describe(command: _Command) -> _Command:
        text, _, own = (inspect.getdoc(command) or "").partition(_PARAMETERS)
        verbs = (inspect.getdoc(verb) or "").partition(_PARAMETERS)[2].partition("\n\n")[0]
        for name in inspect.signature(verb).parameters:
            verbs = verbs.replace(f"`{name}`", f"--{name.replace('_', '-')}")
        command.__doc__ = f"{text}{_PARAMETERS}{verbs}\n{own}"
        return command

    return describe


class Result(Protocol):
    """What a verb gives back: `str` of it is what the command prints."""

    def to_json(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Command:
    """A command that a package adds, by the group `commands`: its function, its line in the overview, and its place."""

    function: Callable[..., None]
    help: str
    after: str | None = None
    "The verb that it follows in the overview; the last one when not given."


@Parameter(name="*", group=Group("Common options", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class Common:
    """The options that every verb takes."""

    workspace: Path | None = None
    "The workspace: `$SIGHTLINE_WORKSPACE`, else the nearest `.sightline` here or above, else one per user."
    config: Path | None = None
    "A `sightline.toml`, or a benchmaker `config.toml` or `.json`."
    json: Switch = False
    "Print one JSON object on stdout; messages go to stderr."
    limit: Annotated[int, Parameter(validator=Number(gte=1))] | None = None
    "Take only the first N items."
    seed: Annotated[int, Parameter(validator=Number(gte=0))] | None = None
    "Makes random choices repeatable."
    verbose: Annotated[bool, Parameter(name=["--verbose", "-v"], negative="", show_default=False)] = False
    "Print more on stderr."
    local_only: Switch = False
    "Refuse any call that leaves this machine."

    @property
    def workspace_path(self) -> Path:
        path = self.workspace or default_workspace()
        _log.info("Workspace: %s", path)
        return path

    def load(self, overrides: Mapping[str, Any] | None = None) -> Loaded:
        """The configuration (file, then environment, then what this command line says), and where it came from."""
        from sightline.config import load

        return load(self.config, overrides=overrides)

    def settings(self, overrides: Mapping[str, Any] | None = None) -> Config:
        """The configuration alone; what there is to say about it goes to stderr."""
        loaded = self.load(overrides)
        self.warn(loaded.warnings)
        if loaded.unmapped:
            keys = ", ".join(item.key for item in loaded.unmapped)
            self.warn([f"benchmaker keys with no counterpart: {keys}; `sightline config show` says why"])
        return loaded.config

    def session(
        self, calls: CallOptions | None = None, engine: str = "local", overrides: Mapping[str, Any] | None = None
    ) -> Session:
        """Where the verb works, and how it calls models."""
        from sightline.calls.session import CallOptions, Session
        from sightline.config.sources import DEFAULT_FILE

        calls = CallOptions(local_only=self.local_only) if calls is None else calls
        settings, path = self.settings(overrides), self.config or DEFAULT_FILE
        return Session(self.workspace_path, settings, calls, engine, seed=self.seed, config_path=path)

    def warn(self, messages: Iterable[str]) -> None:
        """One line on stderr for each."""
        for message in messages:
            sys.stderr.write(f"warning: {message}\n")

    def note(self, messages: Iterable[str]) -> None:
        """One line on stderr for each, of what is not a reason to worry."""
        for message in messages:
            sys.stderr.write(f"note: {message}\n")

    def ignores_limit(self) -> None:
        """Say that there is nothing to limit here, rather than ignore the wish in silence."""
        if self.limit is not None:
            self.warn(["--limit has no effect here"])

    def print_json(self, value: Any) -> None:
        """One JSON object on stdout."""
        import orjson

        sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode() + "\n")

    def show(self, result: Result) -> None:
        """A result on stdout: as JSON where that was asked for, else as its text."""
        if self.json:
            self.print_json(result.to_json())
        else:
            self.print(str(result))

    def print(self, text: str) -> None:
        """Text as it is: nothing in it is markup or the name of an emoji, and long lines stay whole."""
        if sys.stdout is not None:  # It may be closed from the beginning.
            sys.stdout.write(f"{text}\n")

    @property
    def console(self) -> Console:
        """Where a person reads the result."""
        from rich.console import Console

        class _Console(Console):
            def on_broken_pipe(self) -> None:
                raise BrokenPipeError  # `app` looks who left; rich would end with 1.

        return _Console(highlight=False)


@Parameter(name="*", group="Album")
@dataclass(frozen=True, kw_only=True)
class AlbumOptions:
    """For what finds pictures."""

    album: Path | None = None
    "A new or empty folder, outside the pictures' own, that gets a link to each picture."
    copy: Switch = False
    "Put copies into the album, not links."
    keyword: str | None = None
    "A keyword for an XMP sidecar beside each copy; originals never get one."
    contact_sheet: Path | None = None
    "A PDF with small copies of the pictures and their names."

    def check(self) -> None:
        """Refuse what can't be written, before anything is searched or paid for."""
        if self.album is None and (self.copy or self.keyword is not None):
            raise UserError("--copy and --keyword are for an album.", "Name its folder: --album DIR.")
        if self.keyword is not None and not self.copy:
            raise UserError("--keyword needs copies: links have no sidecars.", "Add --copy.")
        if self.album is not None or self.contact_sheet is not None:
            from sightline.corpus.album import check_targets

            check_targets(self.album, self.contact_sheet)

    def show(self, found: PictureResult, common: Common) -> None:
        """Write what was asked for, then print the result and what was written."""
        album = None if self.album is None else found.album(self.album, copy=self.copy, keyword=self.keyword)
        sheet = None if self.contact_sheet is None else found.contact_sheet(self.contact_sheet)
        if common.json:
            written = {"album": album and album.to_json(), "contact_sheet": sheet and str(sheet)}
            common.print_json({**found.to_json(), **{name: value for name, value in written.items() if value}})
            return
        common.print("\n".join([str(found), *(f"  → {each}" for each in (album, sheet) if each)]))


def pairs(given: Sequence[str] | None, option: str) -> dict[str, str]:
    """`["a=b"]` → {"a": "b"}."""
    found = {}
    for pair in given or ():
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise UserError(f'{option} "{pair}" is not of the form key=value.', f"for example {option} query=text")
        found[key.strip()] = value.strip()
    return found


def seconds_of(text: str, option: str, least: float = 0.0) -> float:
    """`90s`, `30m`, `6h`, `1d` → seconds."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd]?)\s*", text)
    if found is None:
        raise UserError(f'{option} "{text}" is not a time.', f"for example {option} 90s, 30m, 6h or 1d")
    seconds = float(found[1]) * _UNITS[found[2]]
    if seconds < least:
        raise UserError(f"{option} must be greater than 0.", f"for example {option} 60s")
    return seconds


def set_up_logging(verbose: bool) -> None:
    """Messages go to stderr; `-v` shows progress of the library's parts."""
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, stream=sys.stderr, force=True)
    logging.getLogger().handlers[0].setFormatter(_Printable("%(message)s"))


class _Printable(logging.Formatter):
    """Messages may hold file names, and those may hold anything."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return "\n".join(printable(line) for line in super().formatMessage(record).split("\n"))


_GROUP = "Models"
Positive = Annotated[int, Parameter(validator=Number(gte=1))]


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True, kw_only=True)
class BudgetOptions:
    """For what makes calls."""

    budget: str | None = None
    "The most to spend, such as 5usd; then stop with exit code 3, and keep what was done."
    max_connections: Positive | None = None
    "The most calls at once; when not given up to 512, as fast as the server allows."

    def calls(self, common: Common) -> CallOptions:
        """What the library takes."""
        from sightline.calls.budget import Budget
        from sightline.calls.rate_limit import RateLimits
        from sightline.calls.session import CallOptions

        most = self.max_connections
        return CallOptions(
            budget=None if self.budget is None else Budget.parse(self.budget),
            limits=None if most is None else RateLimits(start=min(most, RateLimits().start), most=most),
            local_only=common.local_only,
        )


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True, kw_only=True)
class PlanOptions(BudgetOptions):
    """For what says its price before."""

    plan: Switch = False
    "Dry run: print the calls, tokens and money that it would take; nothing is sent."

    def calls(self, common: Common) -> CallOptions:
        """What the library takes."""
        return replace(super().calls(common), plan=self.plan)


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True, kw_only=True)
class EndpointArguments(PlanOptions):
    """For what asks one server."""

    base_url: str | None = None
    "The address of the server, if not its usual one, such as http://localhost:8000/v1."

    def calls(self, common: Common) -> CallOptions:
        """What the library takes."""
        return replace(super().calls(common), base_url=self.base_url)


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True, kw_only=True)
class ChatOptions(EndpointArguments):
    """For what asks a chat model."""

    model: str | None = None
    "The model, such as openai/gpt-5-mini, ollama/llava or vllm/qwen3-vl@http://localhost:8000/v1."
    fresh: Switch = False
    "Ignore cached replies and ask again."

    def calls(self, common: Common) -> CallOptions:
        """What the library takes."""
        return replace(super().calls(common), fresh=self.fresh)

    def chosen(self, otherwise: str | None = None) -> str:
        """The model's name: as given here, else the configured one."""
        from sightline.calls.session import require_model

        return require_model(self.model or otherwise)


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True, kw_only=True)
class SamplingOptions:
    """What replies may be like."""

    max_tokens: Positive | None = None
    "The longest reply."
    temperature: Annotated[float, Parameter(validator=Number(gte=0))] | None = None
    "Sampling temperature: how random replies are."
    reasoning_effort: str | None = None
    "How much the model reasons, such as low."

    def parameters(self, common: Common) -> dict[str, Any]:
        """Fields of every request."""
        return {
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "reasoning_effort": self.reasoning_effort,
            "seed": common.seed,
        }


def show_plan(plan: CostPlan, common: Common) -> None:
    """The table of `--plan`, or its JSON; notes on stderr."""
    common.note(plan.notes)
    common.show(plan)


def tell(line: str) -> None:
    """A line on stderr while the work goes on."""
    sys.stderr.write(f"{line}\n")
