"""Draw docs/pictures/world.png: pictures of written lives at a glance, and in the last row a single event."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

from PIL import Image, ImageOps

from sightline_world.histories import read_shots, write_world
from sightline_world.truth import ShotTruth

DOCS = Path(__file__).parent
SEED, OWNERS, PICTURES = 12, 3, 160
COLUMNS, ROWS, CELL, GAP = 6, 5, (256, 192), 5
PAPER = (250, 249, 246)


def varied(shots: Sequence[ShotTruth], count: int) -> list[ShotTruth]:
    """Pictures that differ in place or light from one another, as few of each place as will do."""
    originals = [shot for shot in shots if shot.copy is None and shot.burst[:1] in ((), (shot.id,))]
    rich = [shot for shot in originals if len(shot.graph.things) + len(shot.graph.figures) >= 3]
    views = {(shot.graph.place, shot.graph.light): shot for shot in Random(SEED).sample(rich, len(rich))}
    chosen: list[ShotTruth] = []
    seen: Counter[str] = Counter()
    while views and len(chosen) < count:
        view = min(views, key=lambda view: (seen[view[0]], seen[view[1]]))
        seen.update(view)
        chosen.append(views.pop(view))
    return Random(SEED).sample(chosen, len(chosen))


def one_event(shots: Sequence[ShotTruth], count: int) -> list[ShotTruth]:
    """Pictures of the longest trip, in the order of time."""
    trips = {shot.event for shot in shots if shot.event and shot.event.endswith(("beach-holiday", "camping"))}
    members = {trip: [shot for shot in shots if shot.event == trip and shot.copy is None] for trip in trips}
    longest = max(sorted(members), key=lambda trip: len(members[trip]))
    event = members[longest]
    step = max(1, len(event) // count)
    return event[::step][:count]


def sheet(root: Path, shots: Sequence[ShotTruth]) -> Image.Image:
    """The pictures side by side, upright."""
    wide, high = CELL[0] + GAP, CELL[1] + GAP
    rows = -(-len(shots) // COLUMNS)
    paper = Image.new("RGB", (COLUMNS * wide + GAP, rows * high + GAP), PAPER)
    for number, shot in enumerate(shots):
        with Image.open(root / shot.id) as image:
            small = ImageOps.exif_transpose(image).convert("RGB").resize(CELL, Image.Resampling.LANCZOS)
        paper.paste(small, (GAP + number % COLUMNS * wide, GAP + number // COLUMNS * high))
    return paper


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = write_world(folder, SEED, owners=OWNERS, pictures=PICTURES, size=(512, 384))
        shots = list(read_shots(folder))
        event = one_event(shots, COLUMNS)
        chosen = varied([shot for shot in shots if shot.event != event[0].event], COLUMNS * (ROWS - 1))
        target = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "pictures" / "world.png"
        picture = sheet(world.pictures, [*chosen, *event])
        picture.quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    main()
