"""What owners take pictures with over the years."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random
from typing import NamedTuple

from sightline_world.truth import Device

_PHONES = ("Kestrel", "Nimbus", "Orbis")
_CAMERAS = (
    Device("Lumen", "Lumen G2", "Lumen 24-70mm F4", 4.0, 35.0, has_gps=False),
    Device("Heron", "Heron 40", "Heron 35mm F2", 2.0, 35.0, writes_offset=False, has_gps=False),
    Device("Tarn", "Tarn X100", "Tarn 23mm F2", 2.0, 23.0, writes_offset=False),
)


class Kit(NamedTuple):
    """An owner's devices: phones with the day since when, and a camera or none."""

    phones: tuple[tuple[date, Device], ...]
    camera: Device | None

    @property
    def devices(self) -> tuple[Device, ...]:
        return (*(phone for _, phone in self.phones), *((self.camera,) if self.camera else ()))

    def phone_on(self, day: date) -> Device:
        return [phone for since, phone in self.phones if since <= day][-1]


def kit(rng: Random, first: date, last: date) -> Kit:
    """A phone that is replaced every two or three years, and for most owners a camera."""
    brand, model, since = rng.choice(_PHONES), rng.randint(3, 7), first
    phones = []
    while since <= last:
        name = f"{brand} Phone {model}"
        phones.append((since, Device(brand, name, f"{name} back camera", rng.choice((1.6, 1.8, 2.2)), 5.4)))
        brand, model = (rng.choice(_PHONES) if rng.random() < 0.3 else brand), model + rng.randint(1, 2)
        since += timedelta(days=rng.randint(600, 1100))
    return Kit(tuple(phones), rng.choice((*_CAMERAS, None)))


def file_stem(device: Device, number: int, stamp: str) -> str:
    """As the device names its files; phones by the time, cameras by a running number."""
    if "Phone" in device.model:
        return f"IMG_{stamp}" if device.make != "Nimbus" else f"{stamp}"
    prefix = {"Lumen": "LUM_", "Heron": "DSC0", "Tarn": "TRN_"}[device.make]
    return f"{prefix}{number + 1:04}"


def folder_of(style: int, when: date, device: Device) -> str:
    """Where the owner keeps it: by year and month, by year, or as the devices leave it."""
    if style == 0:
        return f"{when:%Y}/{when:%m}"
    if style == 1:
        return f"{when:%Y}"
    return "Camera Roll" if "Phone" in device.model else f"100{device.make.upper()}"
