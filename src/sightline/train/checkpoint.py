"""A checkpoint: all that training needs to go on exactly where it was, in one file that is whole or not there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from sightline.errors import UserError


@dataclass(frozen=True, slots=True)
class Keeper:
    """Writes and reads the checkpoint of one training; `settings` must be equal where it is taken up again."""

    file: Path
    settings: Mapping[str, Any]

    def keep(self, model: nn.Module, optimiser: Any, totals: Mapping[str, Any]) -> None:
        """Write it beside the last one, then in its place: a kill leaves one of the two."""
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
        with beside.open("wb") as out:
            torch.save(state, out)
            out.flush()
            os.fsync(out.fileno())
        beside.replace(self.file)

    def steps(self) -> int:
        """Steps that were done when it was written; 0 where there is none."""
        if not self.file.exists():
            return 0
        return int(torch.load(self.file, map_location="cpu", weights_only=True, mmap=True)["totals"]["steps"])

    def restore(self, model: nn.Module, optimiser: Any) -> Mapping[str, Any] | None:
        """Bring everything to where it was and say what had been done; None where there is no checkpoint."""
        if not self.file.exists():
            return None
        state = torch.load(self.file, map_location="cpu", weights_only=True)
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

    def _check(self, before: Mapping[str, Any]) -> None:
        changed = sorted(key for key in {*before, *self.settings} if before.get(key) != self.settings.get(key))
        if changed:
            was = ", ".join(f"{key} was {before.get(key)} and is {self.settings.get(key)}" for key in changed)
            raise UserError(
                f"{self.file}: this training was begun in another way: {was}.",
                "go on with the settings that it was begun with, or choose another --out",
            )
