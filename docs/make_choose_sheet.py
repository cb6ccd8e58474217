"""Draw docs/pictures/world-choose.png: one question of each subtask, with its pictures and its options."""

from __future__ import annotations

import io
import sys
import textwrap
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from sightline.types import PictureRef
from sightline_world.choose import ChooseTask, choose_tasks

DOCS = Path(__file__).parent
SEED, LEVEL = 21, 0.4
WIDE, HIGH, GAP, LINE = 950, 118, 5, 17
PAPER, INK, MARK = (250, 249, 246), (40, 42, 48), (40, 90, 170)


def strip(one: ChooseTask) -> Image.Image:
    """The pictures of a task side by side over its words."""
    paper = Image.new("RGB", (WIDE, 400), PAPER)
    pen, font = ImageDraw.Draw(paper), ImageFont.load_default(13)
    keys = {part.id: o.key for o in one.task.options for part in o.content if isinstance(part, PictureRef)}
    x = GAP
    for picture in one.pictures:
        with Image.open(io.BytesIO(picture.file)) as image:
            small = image.convert("RGB").resize((round(image.width * HIGH / 240), round(image.height * HIGH / 240)))
        paper.paste(small, (x, GAP))
        pen.text((x, small.height + 2 * GAP), keys.get(picture.id, ""), MARK, font)
        x += small.width + GAP
    y = HIGH + 2 * GAP + (LINE if keys else 0)
    options = "     ".join(f"{option.key}. {option.text}" for option in one.task.options if option.text)
    for words, ink in ((f"{one.task.labels['subtask'][0]}: {one.task.text}", INK), (options, MARK)):
        for line in textwrap.wrap(words.replace("\n", " "), 150):
            pen.text((GAP, y), line, ink, font)
            y += LINE
    return paper.crop((0, 0, WIDE, y + 2 * GAP))


def main() -> None:
    strips = [strip(one) for one in choose_tasks(12, SEED, LEVEL)]
    paper = Image.new("RGB", (WIDE, sum(one.height for one in strips)), PAPER)
    y = 0
    for one in strips:
        paper.paste(one, (0, y))
        y += one.height
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "pictures" / "world-choose.png"
    paper.quantize(128, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    main()
