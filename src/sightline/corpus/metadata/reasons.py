"""The named reasons for which metadata is not believed; a scan counts them."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

BROKEN_EXIF = "broken exif"
BROKEN_XMP = "broken xmp"
BROKEN_IPTC = "broken iptc"
BROKEN_SIDECAR = "broken sidecar"
IMPLAUSIBLE_TIME = "implausible time"
IMPLAUSIBLE_POSITION = "implausible position"
IMPLAUSIBLE_ALTITUDE = "implausible altitude"

P = ParamSpec("P")
T = TypeVar("T")


class ImplausibleError(ValueError):
    """A value is there, but no camera could have meant it."""


def believe(reason: str, warnings: list[str], read: Callable[P, T], *args: P.args, **options: P.kwargs) -> T | None:
    """What `read` gives; None, and the reason among the warnings, when that is implausible."""
    try:
        return read(*args, **options)
    except ImplausibleError:
        if reason not in warnings:
            warnings.append(reason)
        return None
