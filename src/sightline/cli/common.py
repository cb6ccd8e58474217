"""What every verb has: the common options, one way to print, one way to fail."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.console import Console

    from sightline.config import Config

Switch = Annotated[bool, Parameter(negative="")]
"""A flag that has no `--no-` form."""


@Parameter(name="*", group="Everywhere")
@dataclass(frozen=True, kw_only=True)
class Common:
    """The options that every verb takes."""

    workspace: Path | None = None
    "Where Sightline keeps what it knows: `$SIGHTLINE_WORKSPACE`, else `./.sightline`."
    config: Path | None = None
    "A `sightline.toml`, or a benchmaker `config.toml` or `.json`."
    json: Switch = False
    "Print one JSON object on stdout; messages go to stderr."
    limit: int | None = None
    "Take only the first N items."
    seed: int | None = None
    "Makes random choices repeatable."
    verbose: Annotated[bool, Parameter(name=["--verbose", "-v"], negative="")] = False
    "Say more on stderr."
    local_only: Switch = False
    "Refuse any call that leaves this machine."

    @property
    def workspace_path(self) -> Path:
        return self.workspace or Path(os.environ.get("SIGHTLINE_WORKSPACE") or ".sightline")

    def settings(self, overrides: Mapping[str, Any] | None = None) -> Config:
        """The effective configuration: file, then environment, then what this command line says."""
        from sightline.config import load

        return load(self.config, overrides=overrides or {}).config

    def print_json(self, value: Any) -> None:
        """One JSON object on stdout."""
        import orjson

        sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode() + "\n")

    @property
    def console(self) -> Console:
        """Where a person reads the result."""
        from rich.console import Console

        return Console(highlight=False)


def set_up_logging(verbose: bool) -> None:
    """Messages go to stderr; `-v` shows progress of the library's parts."""
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING, format="%(message)s", stream=sys.stderr, force=True
    )
