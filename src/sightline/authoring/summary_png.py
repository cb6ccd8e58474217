"""The same drawings as PNG files, for papers and slides: what the page shows, drawn by resvg."""

from __future__ import annotations

import re
import tempfile
from functools import cache
from io import BytesIO
from pathlib import Path

from PIL import ImageFont

from sightline.authoring.summary_charts import Chart
from sightline.authoring.summary_svg import to_svg
from sightline.errors import needs_extra
from sightline.reports.html import page_style

_ZOOM = 3
_FAMILY = "Aileron"


def to_png(drawing: Chart) -> bytes:
    """One drawing; the same drawing gives the same bytes."""
    with needs_extra("drawing PNG files", "charts"):
        import resvg_py
    svg = to_svg(drawing).replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    with tempfile.TemporaryDirectory() as folder:
        font = Path(folder) / "font.ttf"
        font.write_bytes(_font())
        return bytes(
            resvg_py.svg_to_bytes(
                svg_string=svg,
                style_sheet=_style(),
                background="white",
                zoom=_ZOOM,
                font_files=[str(font)],
                font_family=_FAMILY,
            )
        )


@cache
def _style() -> str:
    """The rules of the page about drawings, with the colours of its light theme in place of their names."""
    colours: dict[str, str] = {}
    for name, colour in re.findall(r"(--[\w-]+):\s*([^;]+);", page_style()):
        colours.setdefault(name, colour)
    rules = re.findall(r"^(?:svg |\.c\d ).*$", page_style(), re.MULTILINE)
    return re.sub(r"var\((--\w+)\)", lambda found: colours[found[1]], "\n".join(rules))


@cache
def _font() -> bytes:
    """Pillow's own font: the same on every machine, also on one that has none."""
    font = ImageFont.load_default(12)
    assert isinstance(font, ImageFont.FreeTypeFont) and isinstance(font.path, BytesIO)
    return font.path.getvalue()
