"""How results show themselves: one line as `repr`, HTML in a notebook, rows as records and as data frames.

Colors are those of the page around, so that a result is easy to read in light and dark notebooks alike. What comes
from files (ids, queries, names of systems) is text and never markup, and pictures are small copies inside the page:
nothing is loaded from anywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, SupportsIndex, TypeVar, overload

from sightline.errors import UserError, needs_extra
from sightline.markup import Markup, join, tag
from sightline.plain_text import printable, short

if TYPE_CHECKING:
    import pandas
    import polars

RowT = TypeVar("RowT")
ROWS = 20
"""How many rows of a table a notebook shows."""
PICTURES = 24
"""How many pictures a notebook shows."""
_SIDE = 224
_LARGEST_FILE = 64 << 20
_MOST_PIXELS = 80_000_000
# Pillow knows others, some of which start programs.
_FORMATS = ("JPEG", "MPO", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "HEIF")
_LINE, _NAME = 160, 40


@cache
def _style() -> Markup:
    """The rules of `notebook.css`, as one line."""
    # They name the class twice: notebooks align all cells to the right and shade rows with rules as specific as one.
    return Markup("".join(Path(__file__).with_name("notebook.css").read_text("utf-8").split("\n")))


class Shown:
    """Shows itself in one line, and as HTML in a notebook."""

    __slots__ = ()

    def _line(self) -> str:
        """What it is, in a few words."""
        raise NotImplementedError

    def _blocks(self) -> Iterable[str]:
        """What a notebook shows under that line: markup, or plain text; the text of the result unless it says more."""
        text = str(self)
        return () if text.strip() == self._line() else (preformatted(text),)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {short(self._line(), _LINE)}>"

    def __str__(self) -> str:
        return self._line()

    def _repr_html_(self) -> str:
        return page(self._line(), self._blocks())


class Frames(Shown):
    """Has records, and gives them as a data frame too."""

    __slots__ = ()

    def records(self) -> list[dict[str, Any]]:
        """One flat record for each row, all with the same keys."""
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """The records as a pandas data frame; needs the extra `pandas`."""
        with needs_extra(f"{type(self).__name__}.to_pandas", "pandas"):
            import pandas
        return pandas.DataFrame(self.records())

    def to_polars(self) -> polars.DataFrame:
        """The records as a polars data frame; needs the extra `polars`."""
        with needs_extra(f"{type(self).__name__}.to_polars", "polars"):
            import polars
        return polars.DataFrame(self.records(), infer_schema_length=None, strict=False)


class NoRowError(UserError, IndexError, KeyError):
    """No row has this place or name; also what sequences and mappings raise."""


def place_of(at: SupportsIndex, rows: int) -> int:
    """The place that a key names among so many rows; any other is refused with the places that there are."""
    try:
        place = index(at)
    except TypeError:
        fix = "Give a number, such as [0], or a range, such as [:5]."
        raise NoRowError(f"{at!r:.60} is not the place of a row.", fix) from None
    if not -rows <= place < rows:
        fix = f"Places are 0 to {rows - 1:,}." if rows else "There are no rows."
        raise NoRowError(f"There is no row {place:,}.", fix)
    return place


class Table(Frames, Generic[RowT]):
    """A result with rows: iterate over it, take its length, or turn it into records or a data frame."""

    __slots__ = ()

    def _rows(self) -> Sequence[RowT]:
        raise NotImplementedError

    def records(self) -> list[dict[str, Any]]:
        """One flat record for each row."""
        from dataclasses import asdict

        return [asdict(row) for row in self._rows()]  # type: ignore[call-overload]

    def __iter__(self) -> Iterator[RowT]:
        return iter(self._rows())

    def __len__(self) -> int:
        return len(self._rows())


class Rows(tuple[RowT, ...], Table[RowT]):
    """A tuple that shows itself in a notebook; so does a slice of it."""

    __slots__ = ()

    def _rows(self) -> Sequence[RowT]:
        return tuple(self)

    @overload
    def __getitem__(self, at: SupportsIndex, /) -> RowT: ...
    @overload
    def __getitem__(self, at: slice, /) -> Self: ...
    def __getitem__(self, at: SupportsIndex | slice, /) -> RowT | Self:
        if isinstance(at, slice):
            return type(self)(super().__getitem__(at))
        return super().__getitem__(place_of(at, len(self)))

    __repr__ = Shown.__repr__


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A picture in a notebook: a file or its bytes (None: not on this machine), its name, and lines under it."""

    source: Path | bytes | None
    name: str
    lines: Sequence[str] = ()


def page(title: str, blocks: Iterable[str]) -> Markup:
    """A result as HTML, with its style."""
    parts = [block if isinstance(block, Markup) else tag("p", block) for block in blocks]
    return tag("div", tag("style", _style()), tag("p", title, class_="sl-title"), *parts, class_="sightline")


def html_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, numeric: Collection[int] = (), most: int = ROWS
) -> Markup:
    """A table whose first cells name their rows; what is beyond `most` rows is counted below it."""

    def cell(name: str, at: int, content: str, **given: str) -> Markup:
        return tag(name, content, class_="sl-number" if at in numeric else None, **given)

    top = tag("tr", *(cell("th", at, name, scope="col") for at, name in enumerate(head)))
    body = [
        tag("tr", *(cell("td" if at else "th", at, text, **({} if at else {"scope": "row"})) for at, text in pairs))
        for pairs in (enumerate(row) for row in rows[:most])
    ]
    return join([tag("table", tag("thead", top), tag("tbody", *body)), *_more(len(rows) - most, "row")])


def preformatted(text: str) -> Markup:
    """Lines of text as they are."""
    shown = (escape(printable(line), quote=True) for line in text.strip("\n").split("\n"))
    return tag("pre", Markup("\n".join(shown)))


def quiet(text: str) -> Markup:
    """A remark in a paler tone."""
    return tag("p", text, class_="sl-quiet")


def pictures(items: Sequence[Thumbnail], *, most: int = PICTURES, small: bool = False) -> Markup:
    """Pictures side by side, with their names unless they are small; those beyond `most` are counted."""
    figures = (_figure(item, named=not small) for item in items[:most])
    shown = tag("div", *figures, class_="sl-pictures sl-small" if small else "sl-pictures")
    return join([shown, *_more(len(items) - most, "picture")])


def _figure(item: Thumbnail, *, named: bool) -> Markup:
    source = None if item.source is None else data_url(item.source)
    inside = tag("span", "not here", class_="sl-quiet") if source is None else tag("img", src=source, alt=item.name)
    lines = (join([tag("br"), tag("span", line, class_="sl-quiet")]) for line in item.lines)
    caption = [tag("figcaption", tag("span", short(item.name, _NAME)), *lines)] if named else []
    return tag("figure", tag("div", inside, class_="sl-frame"), *caption, title=item.name)


def _more(count: int, noun: str) -> list[Markup]:
    from sightline.english import counted

    return [quiet(f"… and {counted(count, f'more {noun}')}")] if count > 0 else []


def data_url(source: Path | bytes) -> Markup | None:
    """A small upright copy of a picture, without its metadata; None for what can't be read or is too large."""
    import base64
    import io

    from PIL import Image, ImageOps

    try:
        if isinstance(source, Path) and (not source.is_file() or source.stat().st_size > _LARGEST_FILE):
            return None
        file = source if isinstance(source, Path) else io.BytesIO(source)
        with Image.open(file, formats=_known_formats()) as image:
            if image.width * image.height > _MOST_PIXELS:
                return None
            image.draft("RGB", (2 * _SIDE, 2 * _SIDE))  # A JPEG is decoded at a fraction of its size.
            small = ImageOps.exif_transpose(image)
            small.thumbnail((_SIDE, _SIDE))
            out = io.BytesIO()
            _on_white(small).save(out, "JPEG", quality=78)
    except Exception:  # Decoders raise what they like, and a picture that can't be shown must not hide a result.
        return None
    return Markup(f"data:image/jpeg;base64,{base64.b64encode(out.getvalue()).decode()}")


def _known_formats() -> list[str]:
    """The formats that can be decoded here; HEIF where its package is installed."""
    from contextlib import suppress

    from PIL import Image

    with suppress(ImportError):
        from pillow_heif import register_heif_opener

        register_heif_opener()
    Image.init()
    return [name for name in _FORMATS if name in Image.OPEN]


def _on_white(image: Any) -> Any:
    from PIL import Image

    if image.mode not in ("RGBA", "LA", "PA") and "transparency" not in image.info:
        return image.convert("RGB")
    layer = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("RGB")


def interval_bar(mean: float, interval: tuple[float, float] | None, first: float = 0.0, last: float = 1.0) -> Markup:
    """A mean and its interval on a line from `first` to `last`; a tick marks zero where it lies between them."""
    width, middle = 120.0, 7.0

    def x(value: float) -> float:
        return round(width * (min(max(value, first), last) - first) / (last - first), 2) if last > first else 0.0

    parts = [tag("line", x1=0, x2=width, y1=middle, y2=middle, stroke="currentColor", stroke_opacity=0.25)]
    if first < 0 < last:
        parts.append(tag("line", x1=x(0), x2=x(0), y1=1, y2=13, stroke="currentColor", stroke_opacity=0.6))
    if interval is not None:
        low, high = map(x, interval)
        parts.append(tag("line", x1=low, x2=high, y1=middle, y2=middle, stroke="#4a8fd8", stroke_width=3))
    parts.append(tag("circle", cx=x(mean), cy=middle, r=3.5, fill="#4a8fd8"))
    return tag("svg", *parts, width=width, height=14, role="img", aria_hidden="true")
