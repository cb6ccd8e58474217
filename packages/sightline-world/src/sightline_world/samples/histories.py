"""Two synthetic photo histories: the owners, what they carry, and the days they took pictures of.

From their occasions come the exact pictures that were taken, copied and shared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta, timezone
from random import Random

from sightline.english import listed
from sightline.errors import UserError
from sightline_world.data import read_data
from sightline_world.draw import COLOURS, KINDS, PLACES, PersonWish, ScenePlan, ThingWish
from sightline_world.draw.plan import POSES
from sightline_world.picture_files import Metadata
from sightline_world.samples.truth import Carrier
from sightline_world.scene import HAIR
from sightline_world.truth import Device
from sightline_world.vocabulary import LIGHT_PHRASES, PLACE_PHRASES, phrase

BELONGINGS = ("dog", "cat", "car", "bicycle", "tent", "mug")
"""What an owner has one of, so that it keeps its colour from picture to picture."""
BURST = 3
"""Frames in a burst."""
# Which of the base pictures (by number) is not a plain JPEG with EXIF, in every round of this many.
_ROUND = 46
_FORMATS = {4: "PNG", 9: "WEBP", 14: "GIF", 19: "BMP", 25: "TIFF", 29: "PNG", 34: "WEBP"}
_CARRIERS: Mapping[int, tuple[Carrier, ...]] = {
    14: ("takeout",),
    19: ("xmp sidecar",),
    31: ("takeout",),
    37: ("exif", "xmp sidecar"),
}
_EXTENSIONS = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp", "GIF": "gif", "BMP": "bmp", "TIFF": "tif"}
# Kinds that need the width of a landscape picture.
_WIDE = ("car", "bicycle", "tent", "house")


@dataclass(frozen=True, slots=True)
class SampleCamera:
    """What took a picture, and how large its pictures are."""

    device: Device
    size: tuple[int, int]


@dataclass(frozen=True, slots=True)
class SampleWish:
    """What should be in a picture: people go by the colour of their coats."""

    kind: str
    colour: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class SampleShot:
    """One picture worth taking: place, light, things ("2 red balloon", colours by lot where none is given)."""

    place: str
    light: str
    things: str
    moving: str | None = None


@dataclass(frozen=True, slots=True)
class SampleOccasion:
    """An event in an owner's life, with the hour of dusk there and then."""

    id: str
    owner: str
    title: str
    town: str
    day: date
    days: int
    lat: float
    lon: float
    altitude: float
    utc_offset: int
    dusk: float
    shots: tuple[SampleShot, ...]


LUMEN = SampleCamera(Device("Lumen", "Lumen G2", "Lumen 24-70mm F4", 4.0, 35.0), (1024, 768))
HERON = SampleCamera(Device("Heron", "Heron 40", "Heron 35mm F2", 2.0, 35.0, writes_offset=False), (900, 600))
PHONE = SampleCamera(Device("Kestrel", "Kestrel Phone 5", "Kestrel Phone 5 back camera", 1.9, 5.4), (800, 600))

CAMERAS = {"ana": (LUMEN, PHONE), "ben": (HERON, PHONE)}

OCCASIONS = tuple(
    SampleOccasion(**{**told, "shots": tuple(SampleShot(**shot) for shot in told["shots"])})
    for told in read_data("samples/occasions.toml")["occasion"]
)


def parse_thing(words: str) -> tuple[str, str | None, int]:
    """`2 red balloon` → kind, colour (None: by lot), count."""
    parts = words.split()
    count = int(parts.pop(0)) if parts[0].isdigit() else 1
    colour = parts.pop(0) if parts[0] in COLOURS else None
    kind = " ".join(parts)
    if kind not in KINDS:
        raise ValueError(f"unknown kind of thing: {kind}")
    return kind, colour, count


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A picture that is to be drawn and written, or a copy of one."""

    id: str
    owner: str
    event: str | None
    plan: ScenePlan
    wishes: tuple[SampleWish, ...]
    caption: str
    metadata: Metadata
    format: str = "JPEG"
    orientation: int = 1
    carriers: tuple[Carrier, ...] = ("exif",)
    copy_of: str | None = None
    exact: bool = False
    burst: tuple[str, ...] = ()
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Moment:
    """A shot with its number, its hour and its camera, before it has a file."""

    number: int
    occasion: SampleOccasion
    shot: SampleShot
    when: datetime
    camera: SampleCamera


def plan_histories(seed: int, pictures: int) -> tuple[Snapshot, ...]:
    """Exactly that many pictures of the two lives, of which some are bursts and some are copies."""
    if pictures < 1:
        raise UserError(f"can't make {pictures} sample pictures.", "ask for at least 1")
    copies, bursts = pictures // 15, pictures // 20
    moments = _moments(seed, pictures - 2 * copies - (BURST - 1) * bursts)
    in_bursts = frozenset([moment.number for moment in moments if moment.shot.moving][:bursts])
    shots = [snapshot for snapshots in _by_occasion(seed, moments, in_bursts) for snapshot in snapshots]
    originals = [shot for shot in shots if not shot.burst and shot.format == "JPEG"]
    sources = Random(f"{seed}/copies").sample(originals, 2 * copies)
    exact = [_exact_copy(source) for source in sources[:copies]]
    near = [_near_copy(source, number) for number, source in enumerate(sources[copies:])]
    return (*shots, *exact, *near)


def _moments(seed: int, count: int) -> list[_Moment]:
    """The first `count` shots, one of each occasion in turn."""
    moments = []
    for number in range(count):
        turn, which = divmod(number, len(OCCASIONS))
        occasion = OCCASIONS[which]
        rng = Random(f"{seed}/moment/{number}")
        shot = occasion.shots[turn % len(occasion.shots)]
        when = _hour(occasion, shot, turn % occasion.days, rng)
        camera = CAMERAS[occasion.owner][(turn + which) % 2]
        moments.append(_Moment(number, occasion, shot, when, camera))
    return moments


def _hour(occasion: SampleOccasion, shot: SampleShot, day: int, rng: Random) -> datetime:
    """A time of day that has the light of the shot, on that day of the occasion."""
    first, minutes = {
        "fog": (7.2, 80),
        "day": (10.0, 340),
        "sunset": (occasion.dusk - 0.4, 35),
        "night": (occasion.dusk + 1.2, 90),
    }[shot.light]
    zone = timezone(timedelta(hours=occasion.utc_offset))
    midnight = datetime(occasion.day.year, occasion.day.month, occasion.day.day, tzinfo=zone)
    seconds = round(first * 3600) + rng.randrange(minutes * 60)
    return midnight + timedelta(days=day, seconds=seconds)


def _by_occasion(seed: int, moments: Sequence[_Moment], in_bursts: frozenset[int]) -> Iterator[list[Snapshot]]:
    """The snapshots of each occasion in the order of time, with what goes on through all of it."""
    for occasion in OCCASIONS:
        rng = Random(f"{seed}/{occasion.id}")
        candles, score = rng.randint(3, 9), [0, 0]
        here = sorted((m for m in moments if m.occasion is occasion), key=lambda moment: moment.when)
        snapshots: list[Snapshot] = []
        for moment in here:
            wishes, plan = _plan(seed, moment)
            details = {}
            if moment.shot.place == "stadium":
                side = rng.choice((0, 0, 1))
                score[side] = min(score[side] + 1, 9)  # The board has one digit a side.
                plan = replace(plan, score=(score[0], score[1]))
                details["score"] = f"{score[0]}:{score[1]}"
            if "cake" in moment.shot.things:
                plan = replace(plan, candles=candles)
                details["candles"] = str(candles)
            snapshot = _snapshot(seed, moment, wishes, plan, details)
            snapshots += _burst(snapshot, moment, seed) if moment.number in in_bursts else [snapshot]
        yield snapshots


def _plan(seed: int, moment: _Moment) -> tuple[tuple[SampleWish, ...], ScenePlan]:
    """What is to be drawn: the things of the shot in their colours, upright or landscape."""
    shot, owner = moment.shot, moment.occasion.owner
    rng = Random(f"{seed}/plan/{moment.number}")
    wishes = tuple(_wish(words, owner, seed, rng) for words in shot.things.split(", "))
    wide, high = moment.camera.size
    portrait = moment.number % 5 == 2 and not any(wish.kind in _WIDE for wish in wishes)
    each = [wish for wish in wishes for _ in range(wish.count)]
    return wishes, ScenePlan(
        place=shot.place,
        light=shot.light,
        variant=rng.randrange(PLACES[shot.place].variants),
        things=tuple(ThingWish(wish.kind, wish.colour) for wish in each if wish.kind != "person"),
        people=tuple(
            PersonWish(wish.colour, rng.choice(HAIR), pose=rng.choice(POSES[:5]))
            for wish in each
            if wish.kind == "person"
        ),
        size=(high, wide) if portrait else (wide, high),
        seed=f"{seed}/draw/{moment.number}",
    )


def _wish(words: str, owner: str, seed: int, rng: Random) -> SampleWish:
    kind, colour, count = parse_thing(words)
    if colour is None:
        lot = Random(f"{seed}/{owner}/{kind}") if kind in BELONGINGS else rng
        colour = lot.choice(KINDS[kind].colours)
    return SampleWish(kind, colour, count)


def _snapshot(
    seed: int, moment: _Moment, wishes: tuple[SampleWish, ...], plan: ScenePlan, details: Mapping[str, str]
) -> Snapshot:
    number = moment.number % _ROUND
    picture_format = _FORMATS.get(number, "JPEG")
    if picture_format in ("GIF", "BMP", "TIFF"):  # stored with little or no compression, so kept small
        plan = replace(plan, size=(480, 640) if plan.size[0] < plan.size[1] else (640, 480))
    upright = plan.size[0] < plan.size[1]
    turned = (6 if moment.camera is PHONE else 8) if upright else 3 if moment.number % 11 == 6 else 1
    return Snapshot(
        id=_path(moment, _EXTENSIONS[picture_format]),
        owner=moment.occasion.owner,
        event=moment.occasion.id,
        plan=plan,
        wishes=wishes,
        caption=_caption(plan.place, plan.light, wishes),
        metadata=_metadata(seed, moment, wishes),
        format=picture_format,
        orientation=turned if picture_format == "JPEG" else 1,
        carriers=_CARRIERS.get(number, ("exif", "xmp") if number % 4 == 1 else ("exif",)),
        details=details,
    )


def _caption(place: str, light: str, wishes: Sequence[SampleWish]) -> str:
    """One sentence that says what a picture shows."""
    things = listed(phrase(wish.kind, wish.colour, wish.count) for wish in wishes)
    return f"{things[0].upper()}{things[1:]} {PLACE_PHRASES[place][0]} {LIGHT_PHRASES[light][0]}."


def _metadata(seed: int, moment: _Moment, wishes: tuple[SampleWish, ...]) -> Metadata:
    """Time, position and device; a camera finds no satellites in a kitchen."""
    rng = Random(f"{seed}/gps/{moment.number}")
    occasion, device = moment.occasion, moment.camera.device
    found = moment.camera is PHONE or moment.shot.place != "kitchen"
    return Metadata(
        taken_at=moment.when if device.writes_offset else moment.when.replace(tzinfo=None),
        lat=round(occasion.lat + rng.uniform(-0.003, 0.003), 6) if found else None,
        lon=round(occasion.lon + rng.uniform(-0.003, 0.003), 6) if found else None,
        altitude=round(occasion.altitude + rng.uniform(-2, 2), 1) if found else None,
        device=device,
        title=f"{occasion.title}, {occasion.town}",
        keywords=(moment.shot.place, *dict.fromkeys(wish.kind for wish in wishes)),
        rating=rng.randint(2, 5),
    )


def _path(moment: _Moment, extension: str) -> str:
    """Where the owner keeps it: Ana by year and month, Ben as the device names its folders."""
    when, camera = moment.when, moment.camera
    if camera is PHONE:
        name = f"IMG_{when:%Y%m%d_%H%M%S}.{extension}"
    elif moment.occasion.owner == "ana":
        name = f"LUM_{1000 + moment.number}.{extension}"
    else:
        name = f"DSC{12000 + moment.number:05}.{extension.upper()}"
    if moment.occasion.owner == "ana":
        return f"ana/{when:%Y}/{when:%m}/{name}"
    return f"ben/{'phone' if camera is PHONE else '100HERON'}/{name}"


def _burst(first: Snapshot, moment: _Moment, seed: int) -> list[Snapshot]:
    """Frames a second apart in which one thing moves on and the camera shakes."""
    step = Random(f"{seed}/burst/{moment.number}").choice((-0.06, 0.06))
    frames = []
    for number in range(BURST):
        later = replace(moment, when=moment.when + timedelta(seconds=number))
        stem, _, extension = _path(later, _EXTENSIONS[first.format]).rpartition(".")
        when = first.metadata.taken_at
        assert when is not None  # planned by `_metadata`, which always has the time
        frames.append(
            replace(
                first,
                id=f"{stem}_BURST{number + 1}.{extension}",
                plan=replace(first.plan, moment=number, moving=moment.shot.moving, step=step),
                metadata=replace(first.metadata, taken_at=when + timedelta(seconds=number)),
            )
        )
    ids = tuple(frame.id for frame in frames)
    return [replace(frame, burst=ids) for frame in frames]


def _exact_copy(source: Snapshot) -> Snapshot:
    """The same bytes under another name, as a backup leaves them; its sidecars stay behind."""
    stem, _, extension = source.id.rpartition(".")
    folder, _, name = stem.rpartition("/")
    inside: tuple[Carrier, ...] = ("exif", "xmp")
    kept = tuple(carrier for carrier in source.carriers if carrier in inside)
    return replace(source, id=f"{folder}/{name} (1).{extension}", copy_of=source.id, exact=True, carriers=kept)


def _near_copy(source: Snapshot, number: int) -> Snapshot:
    """A smaller copy, by turns sent to the other owner (nothing known of it) or exported (still with EXIF)."""
    name = source.id.rpartition("/")[2].rpartition(".")[0]
    if number % 2 == 0:
        other = "ben" if source.owner == "ana" else "ana"
        return replace(
            source,
            id=f"{other}/received/IMG-WA{number + 1:04}.jpg",
            owner=other,
            event=None,
            metadata=Metadata(),
            orientation=1,
            carriers=(),
            copy_of=source.id,
        )
    return replace(
        source,
        id=f"{source.owner}/exports/{name}-edited.jpg",
        orientation=1,
        carriers=("exif",),
        copy_of=source.id,
    )
