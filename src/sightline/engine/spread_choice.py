"""Where the work is done: `local`, `ray` or `ray:ADDRESS`, read here and nowhere else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, Self

from sightline.errors import UserError

_ADDRESS = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[\w.-]+):(\d{1,5})")
_FORMS = "write local, ray (the cluster of $RAY_ADDRESS, else one that is started here) or ray:HOST:PORT"


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """Where the work is done; no `address`: the cluster of `$RAY_ADDRESS`, else one that is started here."""

    kind: Literal["local", "ray"] = "local"
    address: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """`local`, `ray` or `ray:HOST:PORT`."""
        kind, colon, address = text.strip().partition(":")
        if kind == "local" and not colon:
            return cls()
        if kind != "ray":
            raise UserError(f'there is no engine "{text}".', _FORMS)
        if address.startswith("ray://"):
            raise UserError(
                f"{address} is a Ray Client address, from where the journal of this machine can't be reached.",
                "run this on a machine of the cluster, with --engine ray, or hand it in with `ray job submit`",
            )
        if not colon:
            return cls("ray")
        found = _ADDRESS.fullmatch(address)
        if found is None or not 0 < int(found[1]) < 65536:
            raise UserError(f'"{address}" is not the address of a Ray cluster.', _FORMS)
        return cls("ray", address)

    def __str__(self) -> str:
        return self.kind if self.address is None else f"{self.kind}:{self.address}"
