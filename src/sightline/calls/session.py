"""A session: the workspace, the settings, and how models are asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from sightline.config import Config
from sightline.models.asking import Asking


@dataclass(frozen=True, slots=True)
class Session:
    """Where work is done and how models are asked, instead of four arguments through every function."""

    workspace: Path = Path(".sightline")
    config: Config = field(default_factory=Config)
    asking: Asking = field(default_factory=Asking)
    "Budget, rate limits, endpoint; whether cached replies are used, and whether calls may leave this machine."
    engine: str = "local"
    "Where many calls are made: on this machine, or on a cluster (`ray`, `ray:ADDRESS`)."
