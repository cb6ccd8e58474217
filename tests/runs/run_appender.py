"""A process to be killed: appends attempts to a run without end, and says each one aloud once it is kept."""

from __future__ import annotations

import itertools
import os
import sys

from sightline.runs.folder import RunWriter
from sightline.types import Attempt, LedgerEntry, Run, Text

with RunWriter(sys.argv[1], Run("bench", "system", ())) as writer:
    done = writer.done
    for number in itertools.count():
        if ("task", number) in done:
            continue
        # Long lines, so that a kill can fall into the middle of one.
        writer.append(Attempt("task", Text("x" * (1 + number % 7) * 30_000), number))
        writer.entry(LedgerEntry("run", "model", task_id=str(number)))
        os.write(1, f"{number}\n".encode())
