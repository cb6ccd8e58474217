"""A machine from which no hub can be reached, and which tells whoever would have been asked."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest


def cut_off(monkeypatch: pytest.MonkeyPatch, cache: Path) -> list[str]:
    """Whoever is asked over the network from now on, where none answers; the hub's cache is in this folder."""
    from huggingface_hub import constants

    found: list[str] = []

    def refused(host: object, *_: object, **__: Any) -> None:
        found.append(str(host))
        raise socket.gaierror("no way out")

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    return found
