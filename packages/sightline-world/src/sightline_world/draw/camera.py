"""The camera: which part of a scene its frame shows, and what it does to the pixels."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PIL import Image, ImageChops, ImageFilter

from sightline.class_names import known_as

Coefficients = tuple[float, float, float, float, float, float, float, float]
_IDENTITY: Coefficients = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
_SHEET = 1024
_GRAIN_MIDDLE = 64


@known_as("Camera")
@dataclass(frozen=True, slots=True)
class Camera:
    """How a picture is taken.

    `tilt` is in degrees, clockwise; the frame is cut so that nothing outside the scene shows. `zoom` of 1 shows as much
    as the tilt allows, and `aim` says where in the remaining room the frame lies (0 to 1 each way). `keystone` makes
    the top wider (above 0) or narrower. `blur` and `motion` are lengths in thousandths of the picture's height.
    `noise` is 0 (none) to 1 (a very dark room), `exposure` is in stops, `warmth` from -1 (blue) to 1 (yellow);
    a lens with a `vignette` is darker towards the corners.
    """

    tilt: float = 0.0
    zoom: float = 1.0
    aim: tuple[float, float] = (0.5, 0.5)
    keystone: float = 0.0
    blur: float = 0.0
    motion: float = 0.0
    noise: float = 0.12
    exposure: float = 0.0
    warmth: float = 0.0
    vignette: bool = True
    quality: int = 88


PLAIN_CAMERA = Camera()
"""A good camera, held straight."""


@dataclass(frozen=True, slots=True)
class View:
    """Where each pixel of the frame comes from: a projective map from the frame to the scene, both in pixels."""

    size: tuple[int, int]
    coefficients: Coefficients

    @property
    def plain(self) -> bool:
        """The frame shows the scene as it is."""
        return self.coefficients == _IDENTITY

    def scale_at(self, x: float, y: float) -> float:
        """How much larger things are in the frame than in the scene at a point of the frame (a length ratio)."""
        a, b, c, d, e, f, g, h = self.coefficients
        w = g * x + h * y + 1
        sx, sy = (a * x + b * y + c) / w, (d * x + e * y + f) / w
        area = ((a - g * sx) * (e - h * sy) - (b - h * sx) * (d - g * sy)) / (w * w)
        return 1 / math.sqrt(abs(area))

    def scaled(self, size: tuple[int, int]) -> View:
        """The same view of the same scene with another number of pixels."""
        if size == self.size:
            return self
        k, m = self.size[0] / size[0], self.size[1] / size[1]
        a, b, c, d, e, f, g, h = self.coefficients
        return View(size, (a, b * m / k, c / k, d * k / m, e, f / m, g * k, h * m))

    def to_frame(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the scene lies in the frame."""
        a, b, c, d, e, f, g, h = self.coefficients
        # (a - g x) u + (b - h x) v = x - c, and the same for y: two equations for the point (u, v).
        p, q, r, s = a - g * x, b - h * x, d - g * y, e - h * y
        det = p * s - q * r
        return ((x - c) * s - q * (y - f)) / det, (p * (y - f) - (x - c) * r) / det

    def through(self, scene: Image.Image, resample: Image.Resampling) -> Image.Image:
        """The pixels of the frame."""
        if self.plain:
            return scene
        a, b, c, d, e, f, g, h = self.coefficients
        if b == d == g == h == 0 and resample is not Image.Resampling.NEAREST:
            wide, high = self.size
            return scene.resize(self.size, resample, box=(c, f, a * wide + c, e * high + f))
        if g == h == 0:
            return scene.transform(self.size, Image.Transform.AFFINE, (a, b, c, d, e, f), resample)
        return scene.transform(self.size, Image.Transform.PERSPECTIVE, self.coefficients, resample)


def view(camera: Camera, size: tuple[int, int]) -> View:
    """The frame of a camera in a scene of that many pixels; it never reaches beyond the scene."""
    wide, high = size
    turn, lean = math.radians(camera.tilt), camera.keystone
    if turn == 0 and lean == 0 and camera.zoom == 1:
        return View(size, _IDENTITY)
    cos, sin = math.cos(turn), math.sin(turn)
    # The half extents of the turned frame, as shares of the scene's, say how much it must shrink to fit.
    reach = max(cos + abs(sin) * high / wide, cos + abs(sin) * wide / high) / (1 - abs(lean))
    k = 1 / (reach * camera.zoom)
    room = (1 - 1 / camera.zoom) / 2
    x, y = wide * (0.5 + room * (2 * camera.aim[0] - 1)), high * (0.5 + room * (2 * camera.aim[1] - 1))
    cx, cy, h = wide / 2, high / 2, 2 * lean / high
    # A pixel at (u, v) from the frame's middle comes from (x, y) + k R(u, v) / (1 + h v), written from the corner.
    base = 1 - h * cy
    top = (k * cos, -k * sin + x * h, x * base - k * (cos * cx - sin * cy))
    low = (k * sin, k * cos + y * h, y * base - k * (sin * cx + cos * cy))
    (a, b, c), (d, e, f) = top, low
    return View(size, (a / base, b / base, c / base, d / base, e / base, f / base, 0.0, h / base))


def expose(image: Image.Image, camera: Camera, grain_at: int) -> Image.Image:
    """What lens and sensor do: softness, vignette, exposure, white balance and grain."""
    wide, high = image.size
    if camera.blur > 0:
        image = image.filter(ImageFilter.BoxBlur(camera.blur * high / 1000))
    if camera.motion > 0:
        image = image.filter(ImageFilter.BoxBlur((camera.motion * high / 1000, 0)))
    if camera.vignette:
        image = ImageChops.multiply(image, _vignette(wide, high))
    if camera.exposure or camera.warmth:
        image = image.point(_curve(round(camera.exposure, 2), round(camera.warmth, 2)))
    if camera.noise <= 0:
        return image
    sheet = _grain(min(16, max(1, round(camera.noise * 16))))
    x, y = grain_at % (_SHEET - 512), grain_at // _SHEET % (_SHEET - 512)
    if wide > 512 or high > 512:
        sheet, x, y = _tiled(sheet, wide, high), 0, 0
    return ImageChops.add(image, sheet.crop((x, y, x + wide, y + high)), 1, -_GRAIN_MIDDLE)


def jpeg(image: Image.Image, quality: int) -> bytes:
    """The bytes of a JPEG file."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


@lru_cache(maxsize=8)
def _vignette(width: int, height: int) -> Image.Image:
    mask = Image.radial_gradient("L").point([round(255 - 0.22 * v * v / 255) for v in range(256)])
    wide = mask.resize((width, height))
    return Image.merge("RGB", (wide, wide, wide))


@lru_cache(maxsize=256)
def _curve(exposure: float, warmth: float) -> list[int]:
    """For each channel what becomes of 0 to 255."""
    gains = np.array((1 + 0.12 * warmth, 1.0, 1 - 0.14 * warmth))
    values = np.arange(256) / 255 * 2.0**exposure * gains[:, None]
    # Highlights roll off instead of clipping, so that over-exposed things keep some colour.
    bright = values >= 0.8
    values[bright] = [_shoulder(value) for value in values[bright].tolist()]
    curve: list[int] = np.rint(255 * values).astype(int).ravel().tolist()
    return curve


def _shoulder(value: float) -> float:
    # Not by numpy, whose exponential may differ in the last bit between machines.
    return min(1.0, 0.8 + 0.2 * (1 - math.exp(-(value - 0.8) / 0.2)))


@lru_cache(maxsize=20)
def _grain(level: int) -> Image.Image:
    """A sheet of grain about a middle value; one serves every picture, at another offset."""
    rng = np.random.Generator(np.random.PCG64(level))
    # The sum of four small dice is close to a bell, and integers are the same on every machine.
    faces = 2 * level + 1
    grey = rng.integers(0, faces, size=(4, _SHEET, _SHEET), dtype=np.uint8).sum(axis=0, dtype=np.int16)
    grey += _GRAIN_MIDDLE - 4 * level
    return Image.fromarray(np.repeat(grey.clip(0, 255).astype(np.uint8)[:, :, None], 3, axis=2))


def _tiled(sheet: Image.Image, wide: int, high: int) -> Image.Image:
    large = Image.new("RGB", (wide, high))
    for x in range(0, wide, _SHEET):
        for y in range(0, high, _SHEET):
            large.paste(sheet, (x, y))
    return large
