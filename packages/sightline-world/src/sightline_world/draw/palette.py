"""Colours by name, and what the light of the day does to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

from sightline_world.data import read_data

RGB: TypeAlias = tuple[int, int, int]
Lamps: TypeAlias = Literal["room", "floodlights"]
Fall: TypeAlias = Literal["rain", "snow"]

_DATA = read_data("draw/palette.toml")
COLOURS: Mapping[str, RGB] = MappingProxyType(_DATA["colours"])
_LAMPS: Mapping[Lamps, Mapping[str, tuple[float, float, float]]] = _DATA["lamps"]


def mix(a: RGB, b: RGB, share: float) -> RGB:
    """`a` with that share of `b` in it."""
    keep = 1.0 - share
    return (
        round(a[0] * keep + b[0] * share),
        round(a[1] * keep + b[1] * share),
        round(a[2] * keep + b[2] * share),
    )


def shade(rgb: RGB, amount: float) -> RGB:
    """Lighter (above 0, up to white at 1) or darker (below 0, down to black at -1)."""
    return mix(rgb, (255, 255, 255), amount) if amount >= 0 else mix(rgb, (0, 0, 0), -amount)


def is_pale(rgb: RGB) -> bool:
    """White or nearly so: pale details do not show on it."""
    return sum(rgb) > 600


def is_dark(rgb: RGB) -> bool:
    """Black or nearly so: dark details do not show on it."""
    return sum(rgb) < 240


@dataclass(frozen=True, slots=True)
class Light:
    """One light of the day: its sky, how it tints what it falls on, and how far one sees."""

    name: str
    sky_top: RGB
    sky_bottom: RGB
    tint: tuple[float, float, float]
    haze_rgb: RGB
    haze: float
    disc: RGB
    cloud: RGB
    fall: Fall | None = None

    def ink(self, rgb: RGB, depth: float = 0.0) -> RGB:
        """A colour as it looks in this light; `depth` is 0 here and 1 at the horizon."""
        (red, green, blue), tint = rgb, self.tint
        lit = (min(255, round(red * tint[0])), min(255, round(green * tint[1])), min(255, round(blue * tint[2])))
        return mix(lit, self.haze_rgb, min(1.0, self.haze * depth)) if depth else lit

    def dust(self, rgb: RGB, share: float) -> RGB:
        """A colour with that share of it under snow while snow falls, and as it is in any other light."""
        return mix(rgb, (250, 252, 255), share) if self.fall == "snow" else rgb

    @property
    def dark(self) -> bool:
        """Lamps and windows are lit."""
        return self.name == "night"

    @property
    def dim(self) -> bool:
        """Lamps are lit, though it need not be night."""
        return self.name in ("sunset", "night", "fog", "rain")

    def on_things(self) -> Light:
        """This light as it falls on what is in front of the camera: in the dark, a flash keeps its colour true."""
        if not self.dark and self.fall is None:
            return self
        red, green, blue = self.tint
        return replace(self, tint=((1 + red) / 2, (1 + green) / 2, (1 + blue) / 2))

    def under(self, lamps: Lamps | None) -> Light:
        """The same hour under lamps, where a place has them: the sky stays, things are lit as well as by day."""
        if lamps is None or (lamps == "floodlights" and not self.dark):
            return self
        tint, haze = _LAMPS[lamps].get(self.name, (1.0, 1.0, 1.0)), 0.0 if lamps == "room" else self.haze / 2
        return replace(self, tint=tint, haze=haze)


LIGHTS: Mapping[str, Light] = MappingProxyType({light["name"]: Light(**light) for light in _DATA["lights"]})
