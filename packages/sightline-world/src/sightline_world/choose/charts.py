"""Analytical: what several charts say together; bar, line and pie charts with labels that can be read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Literal, TypeAlias

from PIL import Image, ImageDraw, ImageFont

from sightline.english import listed
from sightline.types import Box
from sightline_world.choose.easel import pixel_box
from sightline_world.choose.question import (
    ChoiceQuestion,
    DrawnShot,
    QuestionBrief,
    Region,
    Remark,
    Size,
    numbered,
    require,
)
from sightline_world.draw.palette import RGB, shade

Form: TypeAlias = Literal["bars", "line", "pie"]
Corners: TypeAlias = tuple[int, int, int, int]
TOP = 100
"""The largest value of an axis."""

_TONES: tuple[tuple[RGB, ...], ...] = (
    ((66, 120, 196), (232, 126, 56), (86, 160, 92), (196, 70, 80), (138, 100, 180), (222, 182, 62)),
    ((30, 136, 140), (236, 160, 60), (178, 72, 120), (96, 130, 60), (84, 94, 170), (206, 110, 84)),
    ((52, 86, 130), (120, 170, 210), (240, 180, 90), (210, 90, 70), (110, 150, 110), (150, 120, 160)),
)
_PAPER: tuple[RGB, ...] = ((255, 255, 255), (250, 246, 236), (240, 245, 250))
_INK: RGB = (44, 48, 56)
_GRID: RGB = (204, 208, 214)
_OVER = 2
_NAMES = (
    "Ada", "Ana", "Ben", "Bo", "Cleo", "Dan", "Dora", "Eli", "Eva", "Finn", "Gia", "Gus", "Hal", "Ida", "Ivo", "Jon",
    "Kai", "Kim", "Leo", "Lin", "Mia", "Ned", "Nia", "Ola", "Otto", "Pia", "Rex", "Rob", "Sam", "Sue", "Tess", "Tom",
    "Uma", "Val", "Vic", "Wim", "Yara", "Zoe",
)  # fmt: skip
_WARES = (
    "apples", "bread", "cakes", "corn", "eggs", "fish", "honey", "jam", "kites", "lamps", "milk", "mugs", "nuts",
    "pears", "plums", "rice", "salt", "shoes", "soap", "tea",
)  # fmt: skip
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_COUNTED = ("Tickets sold", "Books read", "Goals scored", "Photos taken", "Letters sent", "Trees planted", "Miles run")
_SOLD = ("Sold in {}", "Orders in {}", "Stock in {}", "Bought in {}", "Left over in {}")
_SEASONS = ("spring", "summer", "autumn", "winter")


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: its form, title, labels and values (0 to 100); `told` writes the values beside what shows them."""

    form: Form
    title: str
    labels: tuple[str, ...]
    values: tuple[int, ...]
    tone: int
    told: bool


@dataclass(frozen=True, slots=True)
class Plotted:
    """The picture of a chart, and where each value is shown."""

    image: Image.Image
    boxes: tuple[Box, ...]


def plot(chart: Chart, size: Size) -> Plotted:
    """Draw a chart."""
    large = (size[0] * _OVER, size[1] * _OVER)
    image = Image.new("RGB", large, _PAPER[chart.tone % len(_PAPER)])
    pen = ImageDraw.Draw(image)
    unit = large[1]
    pen.text((large[0] / 2, 0.075 * unit), chart.title, _INK, _font(round(0.075 * unit)), anchor="mm")
    form = {"bars": _bars, "line": _line, "pie": _pie}[chart.form]
    corners = form(pen, chart, large)
    return Plotted(image.reduce(_OVER), tuple(pixel_box(box, large) for box in corners))


@lru_cache(maxsize=64)
def _font(size: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(max(6, size))
    assert isinstance(font, ImageFont.FreeTypeFont)  # Pillow without FreeType can't write at a size
    return font


def _fitting(labels: Sequence[str], wide: float, most: float) -> ImageFont.FreeTypeFont:
    """The largest font in which each label is no wider than that."""
    font = _font(round(most))
    longest = max(font.getlength(label) for label in labels)
    return font if longest <= wide else _font(math.floor(most * wide / longest))


def _axes(pen: ImageDraw.ImageDraw, chart: Chart, size: Size) -> tuple[list[float], float, float]:
    """Grid, numbers and labels; the columns' middles, and where 0 and the top of the axis are."""
    wide, high = size
    left, right, top, low = 0.115 * wide, 0.97 * wide, 0.17 * high, 0.87 * high
    for value in range(0, TOP + 1, 20):
        y = low - (low - top) * value / TOP
        pen.line((left, y, right, y), _GRID if value else _INK, max(1, high // 240))
        pen.text((left - 0.012 * wide, y), str(value), _INK, _font(round(0.052 * high)), anchor="rm")
    step = (right - left) / len(chart.labels)
    middles = [left + step * (place + 0.5) for place in range(len(chart.labels))]
    font = _fitting(chart.labels, 0.94 * step, 0.066 * high)
    for x, label in zip(middles, chart.labels, strict=True):
        pen.text((x, 0.93 * high), label, _INK, font, anchor="mm")
    return middles, low, top


def _tell(pen: ImageDraw.ImageDraw, chart: Chart, value: int, x: float, y: float, high: int) -> None:
    if chart.told:
        pen.text((x, y), str(value), _INK, _font(round(0.056 * high)), anchor="mb")


def _bars(pen: ImageDraw.ImageDraw, chart: Chart, size: Size) -> list[Corners]:
    middles, low, top = _axes(pen, chart, size)
    half = 0.30 * (size[0] * 0.855 / len(middles))
    boxes = []
    tones = _TONES[chart.tone % len(_TONES)]
    for place, (x, value) in enumerate(zip(middles, chart.values, strict=True)):
        y, rgb = low - (low - top) * value / TOP, tones[place % len(tones)]
        pen.rectangle((x - half, y, x + half, low), rgb)
        pen.rectangle((x + half * 0.55, y, x + half, low), shade(rgb, -0.12))
        _tell(pen, chart, value, x, y - 2, size[1])
        boxes.append((round(x - half), round(y), round(x + half), round(low)))
    return boxes


def _line(pen: ImageDraw.ImageDraw, chart: Chart, size: Size) -> list[Corners]:
    middles, low, top = _axes(pen, chart, size)
    rgb = _TONES[chart.tone % len(_TONES)][chart.tone % 4]
    points = [(x, low - (low - top) * value / TOP) for x, value in zip(middles, chart.values, strict=True)]
    pen.line(points, rgb, max(2, size[1] // 80), joint="curve")
    radius = 0.020 * size[1]
    boxes = []
    for (x, y), value in zip(points, chart.values, strict=True):
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), rgb, (255, 255, 255), 2)
        _tell(pen, chart, value, x, y - radius - 1, size[1])
        boxes.append((round(x - radius), round(y - radius), round(x + radius), round(y + radius)))
    return boxes


def _pie(pen: ImageDraw.ImageDraw, chart: Chart, size: Size) -> list[Corners]:
    """Slices clockwise from the top, each with its label beside it."""
    wide, high = size
    x, y, radius = wide / 2, 0.56 * high, 0.30 * high
    tones, total, start = _TONES[chart.tone % len(_TONES)], sum(chart.values), -90.0
    disc = (x - radius, y - radius, x + radius, y + radius)
    boxes = []
    for place, (label, value) in enumerate(zip(chart.labels, chart.values, strict=True)):
        end = start + 360 * value / total
        pen.pieslice(disc, start, end, tones[place % len(tones)], (255, 255, 255), max(1, high // 160))
        middle = math.radians((start + end) / 2)
        cos, sin = math.cos(middle), math.sin(middle)
        words = f"{label} {round(100 * value / total)} %" if chart.told else label
        pen.text((x + 1.10 * radius * cos, y + 1.14 * radius * sin), words, _INK,
                 _font(round(0.062 * high)), anchor="lm" if cos >= 0 else "rm")  # fmt: skip
        boxes.append(_slice_box(x, y, radius, start, end))
        start = end
    return boxes


def _slice_box(x: float, y: float, radius: float, start: float, end: float) -> Corners:
    """The corners about a slice."""
    turns = [start, end, *(turn for turn in range(-90, 361, 90) if start < turn < end)]
    xs = [x, *(x + radius * math.cos(math.radians(turn)) for turn in turns)]
    ys = [y, *(y + radius * math.sin(math.radians(turn)) for turn in turns)]
    return (math.floor(min(xs)), math.floor(min(ys)), math.ceil(max(xs)), math.ceil(max(ys)))


def chart_analysis(wanted: QuestionBrief) -> ChoiceQuestion:
    """The largest change or total, a value found by way of another chart, or the same data in another form."""
    return wanted.rng.choice((_change, _total, _by_way_of, _same_data))(wanted)


def _labels(wanted: QuestionBrief, count: int) -> tuple[str, ...]:
    rng = wanted.rng
    pool = rng.choice((_NAMES, _WARES, _DAYS))
    if pool is _DAYS:
        start = rng.randrange(len(_DAYS) - count + 1)
        return _DAYS[start : start + count]
    return tuple(rng.sample(pool, count))


def _titles(wanted: QuestionBrief, count: int) -> list[str]:
    rng = wanted.rng
    if rng.random() < 0.5:
        what = rng.choice(_SOLD)
        return [what.format(season) for season in _SEASONS[:count]]
    what, year = rng.choice(_COUNTED), rng.randint(1990, 2030 - count)
    return [f"{what}, {year + place}" for place in range(count)]


@dataclass(frozen=True, slots=True)
class _Shown:
    """A chart, its picture, and where in it each value is shown."""

    chart: Chart
    shot: DrawnShot
    boxes: tuple[Box, ...]

    def at(self, place: int) -> Region:
        """Where a value is shown."""
        return self.shot, self.boxes[place]


def _shown(chart: Chart, wanted: QuestionBrief) -> _Shown:
    plotted = plot(chart, wanted.size)
    told = ", ".join(f"{label} {value}" for label, value in zip(chart.labels, chart.values, strict=True))
    kind = {"bars": "bar", "line": "line", "pie": "pie"}[chart.form]
    return _Shown(chart, DrawnShot(plotted.image, chart, f'A {kind} chart, "{chart.title}": {told}.'), plotted.boxes)


def _drawn(wanted: QuestionBrief, labels: tuple[str, ...], rows: Sequence[Sequence[int]]) -> list[_Shown]:
    """Charts of the same labels, with their values written in them while it is easy."""
    rng = wanted.lot
    forms: tuple[Form, ...] = ("bars", "bars", "line")
    told = rng.random() > 1.4 * wanted.difficulty
    titles = _titles(wanted, len(rows))
    return [
        _shown(Chart(rng.choice(forms), title, labels, tuple(row), rng.randrange(12), told), wanted)
        for title, row in zip(titles, rows, strict=True)
    ]


def _across(charts: Sequence[_Shown], place: int) -> tuple[Region, ...]:
    """Where the values of one label are shown, chart by chart."""
    return tuple(one.at(place) for one in charts)


def _asked(wanted: QuestionBrief, count: int) -> tuple[list[int], int]:
    """Four of the labels as options, and which of these four is right."""
    return sorted(wanted.rng.sample(range(count), 4)), wanted.rng.randrange(4)


def _change(wanted: QuestionBrief) -> ChoiceQuestion:
    """Two charts of the same: what grew, or fell, the most?"""
    rng = wanted.rng
    count = wanted.count(4, 6)
    labels, (asked, right) = _labels(wanted, count), _asked(wanted, count)
    grew, winner, margin = rng.random() < 0.5, asked[right], round(wanted.between(22, 11))
    rng = wanted.lot
    most = rng.randint(34, 48)
    changes = [rng.randint(-30, most - margin) for _ in labels]
    changes[winner] = most
    before = [rng.randint(max(6, 6 - change), min(94, 94 - change)) for change in changes]
    after = [value + change for value, change in zip(before, changes, strict=True)]
    # Otherwise one chart would be enough.
    require(max(after) != after[winner] and min(before) != before[winner])
    rows = (before, after) if grew else (after, before)
    charts = _drawn(wanted, labels, rows)
    word = "grew" if grew else "fell"
    signs = [f"{label} {b - a:+d}" for label, a, b in zip(labels, *rows, strict=True)]
    return _pointing(
        charts,
        [labels[place] for place in asked],
        right,
        question=f"What {word} the most from chart 1 to chart 2?",
        summary=f"Two charts of the same {count} are to be compared, to find which {word} the most.",
        compared=f"The changes from chart 1 to chart 2 are {', '.join(signs)}.",
        conclusion=f"The one that {word} the most is {labels[winner]}.",
        winner=winner,
    )


def _total(wanted: QuestionBrief) -> ChoiceQuestion:
    """Three charts of the same: what has the largest, or smallest, total?"""
    rng = wanted.rng
    count = wanted.count(4, 6)
    labels, (asked, right) = _labels(wanted, count), _asked(wanted, count)
    largest, winner, margin = rng.random() < 0.5, asked[right], round(wanted.between(36, 18))
    rng = wanted.lot
    columns = sorted(([rng.randint(10, 90) for _ in range(3)] for _ in labels), key=sum, reverse=largest)
    best = columns.pop(0)
    require(abs(sum(best) - sum(columns[0])) >= margin)
    rng.shuffle(columns)
    columns.insert(winner, best)
    rows = [list(row) for row in zip(*columns, strict=True)]
    extreme = max if largest else min
    # Otherwise one chart would be enough.
    require(sum(extreme(row) == row[winner] for row in rows) <= 1)
    charts = _drawn(wanted, labels, rows)
    word = "largest" if largest else "smallest"
    totals = [f"{label} {sum(column)}" for label, column in zip(labels, columns, strict=True)]
    return _pointing(
        charts,
        [labels[place] for place in asked],
        right,
        question=f"What has the {word} total over the three charts?",
        summary=f"The values of {count} are to be added up over three charts, to find the {word} total.",
        compared=f"The totals are {', '.join(totals)}.",
        conclusion=f"The {word} total is that of {labels[winner]}.",
        winner=winner,
    )


def _pointing(
    charts: Sequence[_Shown],
    options: Sequence[str],
    right: int,
    *,
    question: str,
    summary: str,
    compared: str,
    conclusion: str,
    winner: int,
) -> ChoiceQuestion:
    """A question whose answer is a label of all charts."""
    label = charts[0].chart.labels[winner]
    values = listed(f"{one.chart.values[winner]} in chart {number}" for number, one in enumerate(charts, 1))
    return ChoiceQuestion(
        prompt=(*numbered("Chart", [one.shot for one in charts]), question),
        options=tuple(options),
        right=right,
        summary=summary,
        regions=Remark(f"For {label} the charts show {values}, here.", _across(charts, winner)),
        compared=Remark(
            compared, tuple(region for place in range(len(charts[0].chart.labels)) for region in _across(charts, place))
        ),
        conclusion=conclusion,
    )


def _by_way_of(wanted: QuestionBrief) -> ChoiceQuestion:
    """What is largest (smallest) in one chart: which value has it in another?"""
    rng = wanted.rng
    count = wanted.count(4, 6)
    labels, (asked, right) = _labels(wanted, count), _asked(wanted, count)
    winner, largest = asked[right], rng.random() < 0.5
    first = [wanted.lot.randint(15, 80) for _ in labels]
    first[winner] = max(first) + round(wanted.between(14, 6)) if largest else min(first) - round(wanted.between(10, 6))
    second = [wanted.lot.randint(10, 90) for _ in labels]
    # The options must be told apart from the axis alone.
    spread = rng.sample(range(rng.randint(8, 20), 96, round(wanted.between(20, 13))), 4)
    for place, value in zip(asked, spread, strict=True):
        second[place] = value
    charts = _drawn(wanted, labels, (first, second))
    word, label = "largest" if largest else "smallest", labels[winner]
    return ChoiceQuestion(
        prompt=(
            *numbered("Chart", [one.shot for one in charts]),
            f"Take the label with the {word} value in chart 1. What value does it have in chart 2, about?",
        ),
        options=tuple(str(second[place]) for place in asked),
        right=right,
        summary=f"The label with the {word} value in chart 1 is to be found, and then its value in chart 2.",
        regions=Remark(f"In chart 1 the {word} value is {first[winner]}: {label}, here.", (charts[0].at(winner),)),
        compared=Remark(f"In chart 2 {label} is here, and reaches {second[winner]}.", _across(charts, winner)),
        conclusion=f"In chart 2 the value of {label} is {second[winner]}.",
    )


def _same_data(wanted: QuestionBrief) -> ChoiceQuestion:
    """A bar chart and four pies: which pie shows the same?"""
    rng = wanted.rng
    count = wanted.count(3, 5)
    labels = _labels(wanted, count)
    gap = wanted.between(16, 9)
    values = [round(10 + gap * place + rng.uniform(0, 6)) for place in range(count)]
    rows = rng.sample(list(permutations(values)), 4)
    title, told = _titles(wanted, 1)[0], rng.random() > 1.4 * wanted.difficulty
    bars = Chart("bars", title, labels, rows[0], rng.randrange(12), told)
    first = _shown(bars, wanted)
    tone = rng.randrange(12)
    pies = [_shown(Chart("pie", title, labels, row, tone, False), wanted) for row in rows]
    order = sorted(range(count), key=lambda place: -rows[0][place])
    ranked = ", ".join(labels[place] for place in order)
    return ChoiceQuestion(
        prompt=("Look at the bar chart: ", first.shot, "\nWhich pie chart shows the same data?"),
        options=tuple(pie.shot for pie in pies),
        right=0,
        summary="The pie chart is to be found whose slices are as large, compared with each other, as the bars.",
        regions=Remark(f"From the highest bar to the lowest: {ranked}.", tuple(first.at(place) for place in order)),
        compared=Remark(
            f"In one of the pie charts the slices, from the largest to the smallest, are {ranked} too.",
            tuple(pies[0].at(place) for place in order),
        ),
        conclusion="This pie chart shows the same data as the bar chart.",
    )
