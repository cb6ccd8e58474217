"""Colours by name, and what the light of the day does to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

RGB: TypeAlias = tuple[int, int, int]
Lamps: TypeAlias = Literal["room", "floodlights"]
Fall: TypeAlias = Literal["rain", "snow"]

COLOURS: Mapping[str, RGB] = MappingProxyType(
    {
        "red": (214, 48, 49),
        "orange": (242, 134, 38),
        "yellow": (250, 208, 58),
        "green": (48, 156, 82),
        "blue": (42, 108, 202),
        "purple": (126, 72, 170),
        "pink": (242, 134, 172),
        "white": (246, 245, 240),
        "black": (48, 48, 54),
        "brown": (134, 88, 54),
        "grey": (140, 144, 150),
    }
)


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


_LAMPS: Mapping[Lamps, Mapping[str, tuple[float, float, float]]] = {
    "room": {
        "night": (0.90, 0.80, 0.64),
        "sunset": (1.02, 0.92, 0.82),
        "fog": (0.94, 0.95, 0.95),
        "rain": (0.87, 0.86, 0.84),
        "snowfall": (0.95, 0.99, 1.05),
    },
    "floodlights": {"night": (0.84, 0.89, 0.96)},
}

LIGHTS: Mapping[str, Light] = MappingProxyType(
    {
        light.name: light
        for light in (
            Light(
                name="day",
                sky_top=(70, 148, 220),
                sky_bottom=(206, 231, 246),
                tint=(1.0, 1.0, 1.0),
                haze_rgb=(196, 220, 238),
                haze=0.55,
                disc=(255, 250, 222),
                cloud=(255, 255, 255),
            ),
            Light(
                name="sunset",
                sky_top=(78, 74, 140),
                sky_bottom=(255, 176, 98),
                tint=(1.02, 0.91, 0.80),
                haze_rgb=(246, 160, 112),
                haze=0.60,
                disc=(255, 226, 150),
                cloud=(250, 150, 128),
            ),
            Light(
                name="night",
                sky_top=(8, 14, 40),
                sky_bottom=(46, 62, 112),
                tint=(0.53, 0.57, 0.78),
                haze_rgb=(38, 52, 96),
                haze=0.60,
                disc=(244, 243, 226),
                cloud=(58, 70, 112),
            ),
            Light(
                name="fog",
                sky_top=(190, 197, 203),
                sky_bottom=(223, 226, 228),
                tint=(0.93, 0.95, 0.97),
                haze_rgb=(217, 221, 224),
                haze=1.02,
                disc=(240, 240, 236),
                cloud=(214, 218, 221),
            ),
            Light(
                name="rain",
                sky_top=(84, 97, 116),
                sky_bottom=(158, 170, 182),
                tint=(0.72, 0.78, 0.86),
                haze_rgb=(136, 150, 164),
                haze=0.80,
                disc=(176, 186, 196),
                cloud=(104, 116, 134),
                fall="rain",
            ),
            Light(
                name="snowfall",
                sky_top=(168, 183, 204),
                sky_bottom=(222, 230, 240),
                tint=(0.94, 0.97, 1.02),
                haze_rgb=(214, 224, 237),
                haze=0.82,
                disc=(238, 242, 248),
                cloud=(196, 207, 222),
                fall="snow",
            ),
        )
    }
)
