"""Analytical: what several charts say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from sightline.english import listed
from sightline.types import Box
from sightline_world.choose.chart_drawing import Chart, Form, plot
from sightline_world.choose.question import Question, Region, Said, Shot, Wanted, numbered, require

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


def chart_analysis(wanted: Wanted) -> Question:
    """The largest change or total, a value found by way of another chart, or the same data in another form."""
    return wanted.rng.choice((_change, _total, _by_way_of, _same_data))(wanted)


def _labels(wanted: Wanted, count: int) -> tuple[str, ...]:
    rng = wanted.rng
    pool = rng.choice((_NAMES, _WARES, _DAYS))
    if pool is _DAYS:
        start = rng.randrange(len(_DAYS) - count + 1)
        return _DAYS[start : start + count]
    return tuple(rng.sample(pool, count))


def _titles(wanted: Wanted, count: int) -> list[str]:
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
    shot: Shot
    boxes: tuple[Box, ...]

    def at(self, place: int) -> Region:
        """Where a value is shown."""
        return self.shot, self.boxes[place]


def _shown(chart: Chart, wanted: Wanted) -> _Shown:
    plotted = plot(chart, wanted.size)
    told = ", ".join(f"{label} {value}" for label, value in zip(chart.labels, chart.values, strict=True))
    kind = {"bars": "bar", "line": "line", "pie": "pie"}[chart.form]
    return _Shown(chart, Shot(plotted.image, chart, f'A {kind} chart, "{chart.title}": {told}.'), plotted.boxes)


def _drawn(wanted: Wanted, labels: tuple[str, ...], rows: Sequence[Sequence[int]]) -> list[_Shown]:
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


def _asked(wanted: Wanted, count: int) -> tuple[list[int], int]:
    """Four of the labels as options, and which of these four is right."""
    return sorted(wanted.rng.sample(range(count), 4)), wanted.rng.randrange(4)


def _change(wanted: Wanted) -> Question:
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


def _total(wanted: Wanted) -> Question:
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
) -> Question:
    """A question whose answer is a label of all charts."""
    label = charts[0].chart.labels[winner]
    values = listed(f"{one.chart.values[winner]} in chart {number}" for number, one in enumerate(charts, 1))
    return Question(
        prompt=(*numbered("Chart", [one.shot for one in charts]), question),
        options=tuple(options),
        right=right,
        summary=summary,
        regions=Said(f"For {label} the charts show {values}, here.", _across(charts, winner)),
        compared=Said(
            compared, tuple(region for place in range(len(charts[0].chart.labels)) for region in _across(charts, place))
        ),
        conclusion=conclusion,
    )


def _by_way_of(wanted: Wanted) -> Question:
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
    return Question(
        prompt=(
            *numbered("Chart", [one.shot for one in charts]),
            f"Take the label with the {word} value in chart 1. What value does it have in chart 2, about?",
        ),
        options=tuple(str(second[place]) for place in asked),
        right=right,
        summary=f"The label with the {word} value in chart 1 is to be found, and then its value in chart 2.",
        regions=Said(f"In chart 1 the {word} value is {first[winner]}: {label}, here.", (charts[0].at(winner),)),
        compared=Said(f"In chart 2 {label} is here, and reaches {second[winner]}.", _across(charts, winner)),
        conclusion=f"In chart 2 the value of {label} is {second[winner]}.",
    )


def _same_data(wanted: Wanted) -> Question:
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
    return Question(
        prompt=("Look at the bar chart: ", first.shot, "\nWhich pie chart shows the same data?"),
        options=tuple(pie.shot for pie in pies),
        right=0,
        summary="The pie chart is to be found whose slices are as large, compared with each other, as the bars.",
        regions=Said(f"From the highest bar to the lowest: {ranked}.", tuple(first.at(place) for place in order)),
        compared=Said(
            f"In one of the pie charts the slices, from the largest to the smallest, are {ranked} too.",
            tuple(pies[0].at(place) for place in order),
        ),
        conclusion="This pie chart shows the same data as the bar chart.",
    )
