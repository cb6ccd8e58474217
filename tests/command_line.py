"""The real command line, in a process of its own; the fixture `cli` runs it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

Cli = Callable[..., subprocess.CompletedProcess[str]]
