"""Checkpoints: all that training needs to go on exactly where it was; the one before it is kept too.

One process writes to the folder of a training at a time.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import torch
from torch import nn

from sightline.errors import UserError, explained
from sightline.io.locks import locked

AGAIN = "give the same command again, with --resume where there is a checkpoint"
"""How a training goes on that something stopped."""
_FULL = (errno.ENOSPC, errno.EDQUOT)
_LOG = logging.getLogger(__name__)
_FREE = {"log_every", "keep_every"}
"""Settings that change no weight: a training may go on with others."""


@contextmanager
def held(out: Path) -> Iterator[None]:
    """Hold the folder until the block ends, or refuse it if another training does; a killed one lets go of it."""
    with explained(f"{out}: no folder can be made here", "choose another --out"):
        out.mkdir(parents=True, exist_ok=True)
    with locked(out, wait=False) as ours:
        if not ours:
            raise UserError(
                f"{out}: another training writes here at this moment.", "wait for its end, or choose another --out"
            )
        try:
            yield
        except OSError as error:
            if error.errno not in _FULL:
                raise
            raise not_written(out, error, AGAIN) from error


def not_written(place: Path, error: OSError, then: str) -> UserError:
    """What to say where something can't be written, with what to do `then`."""
    if error.errno in _FULL:
        return UserError(f"{place} can't be written: the disk is full.", f"make room, and {then}")
    why = error.strerror or str(error)
    return UserError(f"{place} can't be written: {why}.", f"check the limit for file sizes there, and {then}")


@dataclass(slots=True)
class Checkpoints:
    """Writes and reads the checkpoint of one training; `settings` must be equal where it is taken up again."""

    file: Path
    settings: Mapping[str, Any]
    _is_damaged: bool = field(default=False, init=False)

    @property
    def before(self) -> Path:
        """The checkpoint before the last, for where that turns out to be damaged."""
        return self.file.with_name(f"{self.file.stem}-before{self.file.suffix}")

    @property
    def is_begun(self) -> bool:
        """Is there a checkpoint, sound or not?"""
        return self.file.exists() or self.before.exists()

    def keep(self, model: nn.Module, optimiser: Any, totals: Mapping[str, Any]) -> None:
        """Write it beside the last one, then in its place: a kill at any moment leaves a whole one."""
        state = {
            "settings": dict(self.settings),
            "totals": dict(totals),
            "weights": {name: weight for name, weight in model.named_parameters() if weight.requires_grad},
            "buffers": dict(model.named_buffers()),
            "optimiser": optimiser.state_dict(),
            "chance": torch.get_rng_state(),
            "device_chance": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        }
        beside = self.file.with_suffix(".part")
        if self._is_damaged:  # The one before it is all there is.
            self.file.unlink(missing_ok=True)
            self._is_damaged = False
        elif self.file.exists():  # At most two lie on the disk at a time.
            self.before.unlink(missing_ok=True)
        try:
            with beside.open("wb") as out:
                torch.save(state, out)
                out.flush()
                os.fsync(out.fileno())
        except (OSError, RuntimeError) as error:
            beside.unlink(missing_ok=True)
            # To torch a full disk is an archive that broke off; what the disk said stands behind that.
            cause = error if isinstance(error, OSError) else error.__context__
            if not isinstance(cause, OSError):
                raise
            again = "continue from the last one with --resume" if self.is_begun else "start again"
            raise not_written(self.file, cause, again) from error
        if self.file.exists():
            self.file.replace(self.before)
        beside.replace(self.file)

    def steps(self) -> int:
        """Steps that were done when it was written; 0 where there is none."""
        file = self._sound(tell=False)
        if file is None:
            return 0
        return int(torch.load(file, map_location="cpu", weights_only=True, mmap=True)["totals"]["steps"])

    def restore(self, model: nn.Module, optimiser: Any) -> Mapping[str, Any] | None:
        """Bring everything to where it was and say what had been done; None where there is no checkpoint."""
        file = self._sound()
        if file is None:
            return None
        self._is_damaged = file != self.file
        state = torch.load(file, map_location="cpu", weights_only=True)
        self._check(state["settings"])
        with torch.no_grad():
            for kind, there in (("weights", dict(model.named_parameters())), ("buffers", dict(model.named_buffers()))):
                for name, value in state[kind].items():
                    there[name].copy_(value)
        optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["chance"])
        if torch.cuda.is_available() and state["device_chance"]:
            torch.cuda.set_rng_state_all(state["device_chance"])
        totals: Mapping[str, Any] = state["totals"]
        return totals

    def _sound(self, *, tell: bool = True) -> Path | None:
        """The last checkpoint that is whole, and a word where it is not the last of all; None where there is none."""
        damaged: list[Path] = []
        for file in (self.file, self.before):
            if file.exists() and _is_whole(file):
                if damaged and tell:
                    _LOG.warning("%s is damaged; the training goes on from %s, the one before it", self.file, file.name)
                return file
            damaged += [file] if file.exists() else []
        if damaged:
            raise UserError(
                f"{damaged[0]}: this checkpoint is damaged, and there is no whole one before it.",
                f"copy it again from an undamaged copy, or delete {damaged[0].parent} and start again",
            )
        return None

    def _check(self, before: Mapping[str, Any]) -> None:
        keys = {*before, *self.settings} - _FREE
        changed = sorted(key for key in keys if before.get(key) != self.settings.get(key))
        if changed:
            was = ", ".join(f"{key} was {before.get(key)} and is {self.settings.get(key)}" for key in changed)
            raise UserError(
                f"{self.file}: this training was started with other settings: {was}.",
                "continue with its settings, or choose another --out",
            )


def _is_whole(file: Path) -> bool:
    """A checkpoint is a zip archive, in which every part has its checksum."""
    try:
        with ZipFile(file) as archive:
            return archive.testzip() is None
    except BadZipFile:
        return False
