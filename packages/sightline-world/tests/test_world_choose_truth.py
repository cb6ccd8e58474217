"""The right option of each subtask, found again from scene graphs, recipes or pixels, without the maker's help."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from sightline.types import Box
from sightline_world.choose import ALL, ChooseTask, TaskPicture, choose_tasks
from sightline_world.choose.charts import Chart
from sightline_world.choose.cooking import DISHES, Cooking
from sightline_world.choose.satire import POINTS
from sightline_world.choose.setting import Altered
from sightline_world.choose.weights import Balance
from sightline_world.scene import SceneGraph, Thing
from sightline_world.vocabulary import phrase

EACH = 14
SIDES = ("from the opposite side", "from the left side", "from the right side")


@pytest.fixture(scope="module")
def tasks() -> dict[str, list[ChooseTask]]:
    """Some tasks of each subtask, from easy to hard."""
    found: dict[str, list[ChooseTask]] = {name: [] for name in ALL}
    for level in (0.0, 0.35, 0.7, 1.0):
        for one in choose_tasks(len(ALL) * EACH // 4 + len(ALL), f"truth {level}", level):
            found[one.task.labels["subtask"][0]].append(one)
    return found


def said(one: ChooseTask) -> str:
    """The text of the right option."""
    return next(option.text for option in one.task.options if option.key == one.truth.option)


def shown(one: ChooseTask) -> list[TaskPicture]:
    """The pictures of the prompt."""
    return list(one.pictures[: len(one.task.pictures)])


def offered(one: ChooseTask) -> list[TaskPicture]:
    return list(one.pictures[len(one.task.pictures) :])


def chosen(one: ChooseTask) -> int:
    return "ABCD".index(one.truth.option or "")


def graph(picture: TaskPicture) -> SceneGraph:
    assert picture.graph is not None
    return picture.graph


def pixels(picture: TaskPicture) -> NDArray[np.float64]:
    with Image.open(io.BytesIO(picture.file)) as image:
        return np.asarray(image.convert("RGB"), dtype=np.float64)


def name_of(thing: Thing) -> str:
    return "the " + phrase(thing.kind, thing.colour).split(" ", 1)[1]


def by_name(picture: TaskPicture) -> dict[str, Box]:
    return {name_of(thing): thing.box for thing in graph(picture).things}


def middle(box: Box) -> float:
    return (box.left + box.right) / 2


def order(values: Sequence[float], *, descending: bool = False) -> str:
    """The numbers of the values, from 1, in their order."""
    places = sorted(range(len(values)), key=lambda place: values[place], reverse=descending)
    return ", ".join(str(place + 1) for place in places)


def test_speed(tasks: dict[str, list[ChooseTask]]) -> None:
    for one in tasks["Speed Comparison"]:
        first, last = by_name(shown(one)[0]), by_name(shown(one)[-1])
        ways = {name: abs(middle(last[name]) - middle(box)) for name, box in first.items()}
        pick = max if "fastest" in one.task.text else min
        assert pick(ways, key=lambda name: ways[name]) == said(one)


def test_motion(tasks: dict[str, list[ChooseTask]]) -> None:
    for one in tasks["Motion Detection"]:
        first, last = by_name(shown(one)[0]), by_name(shown(one)[-1])
        moved = {name: _way(box, last[name]) for name, box in first.items()}
        asked = re.search(r"Which way does (.*) move\?", one.task.text)
        if asked:
            assert _direction(moved[asked[1]]) == said(one)
        else:
            assert max(moved, key=lambda name: np.hypot(*moved[name])) == said(one)


def _way(first: Box, last: Box) -> tuple[float, float]:
    return middle(last) - middle(first), last.bottom - first.bottom


def _direction(way: tuple[float, float]) -> str:
    right, near = way
    if abs(right) > abs(near):
        return "to the right" if right > 0 else "to the left"
    return "towards the camera" if near > 0 else "away from the camera"


def test_cooking(tasks: dict[str, list[ChooseTask]]) -> None:
    for one in tasks["Cooking Process"]:
        stages = [_cooking(picture).stage for picture in shown(one)]
        if "out of order" in one.task.text:
            assert order(stages) == said(one)
        else:
            options = [_cooking(picture).stage for picture in offered(one)]
            assert options[chosen(one)] == stages[0] + 1 == stages[1] - 1
        kitchens = {_cooking(picture).at(0) for picture in one.pictures}
        assert len(kitchens) == 1


def _cooking(picture: TaskPicture) -> Cooking:
    assert isinstance(picture.recipe, Cooking)
    return picture.recipe


def test_steps_of_a_dish_look_different() -> None:
    from sightline_world.choose.cooking import paint_stage

    for dish, about in DISHES.items():
        kitchen = Cooking(dish, 0, "blue", "day", 0, False, 0.0, 1)
        pictures = [
            np.asarray(paint_stage(kitchen.at(stage), (160, 120))[0], dtype=np.int16)
            for stage in range(len(about.stages))
        ]
        assert len(pictures) == 6
        for place, one in enumerate(pictures):
            assert all(np.abs(one - other).mean() > 1.0 for other in pictures[place + 1 :])


def test_puzzle(tasks: dict[str, list[ChooseTask]]) -> None:
    seams, strips = 0, 0
    for one in tasks["Image Puzzle"]:
        if "strips" in one.task.text:
            assert order([_part(picture)[0] for picture in shown(one)]) == said(one)
            strips += 1
            seams += _best_seam(one) == said(one)
        else:
            hole = _part(shown(one)[0])
            assert [place for place, piece in enumerate(offered(one)) if _part(piece) == hole] == [chosen(one)]
    assert strips and seams / strips > 0.9  # from the pixels of the files, which are not quite those of the drawing


def _part(picture: TaskPicture) -> tuple[float, float, float, float]:
    assert isinstance(picture.recipe, Altered)
    return picture.recipe.part


def _best_seam(one: ChooseTask) -> str:
    strips = [pixels(picture) for picture in shown(one)]

    def cost(text: str) -> float:
        places = [int(number) - 1 for number in text.split(", ")]
        return sum(float(np.abs(strips[a][:, -1] - strips[b][:, 0]).mean()) for a, b in pairwise(places))

    return min((option.text for option in one.task.options), key=cost)


def test_location(tasks: dict[str, list[ChooseTask]]) -> None:
    for one in tasks["Location Relationship"]:
        rows = [sorted(by_name(picture), key=lambda name: middle(by_name(picture)[name])) for picture in shown(one)]
        wanted = re.search(r"from left to right: (.*)\?", one.task.text)
        if wanted:
            names = [f"the {name}" for name in re.split(r", | and ", wanted[1])]
            assert [f"picture {place}" for place, row in enumerate(rows, 1) if row == names] == [said(one)]
        else:
            asked = re.findall(r"(?:next to )(the .*?|it), directly to the (left|right)", one.task.text)
            (start, one_side), (_, two_side) = asked
            link = _next_to(rows[0], start, one_side)
            assert _next_to(rows[1], link, two_side) == said(one)
            assert link not in [option.text for option in one.task.options]


def _next_to(row: Sequence[str], name: str, side: str) -> str:
    return row[row.index(name) + (1 if side == "right" else -1)]


def test_depth(tasks: dict[str, list[ChooseTask]]) -> None:
    for one in tasks["Depth Relationship"]:
        asked = re.search(r"is (the .*) nearer to the camera than (the .*)\?", one.task.text)
        if asked:
            near = [by_name(picture)[asked[1]].bottom > by_name(picture)[asked[2]].bottom for picture in shown(one)]
            assert sum(near) == 1
            assert f"picture {near.index(True) + 1}" == said(one)
        else:
            thing = re.search(r"how far (the .*) is from", one.task.text)
            assert thing
            feet = [by_name(picture)[thing[1]].bottom for picture in shown(one)]
            assert order(feet, descending=True) == said(one)


def test_view(tasks: dict[str, list[ChooseTask]]) -> None:
    for one in tasks["3D View"]:
        first = _layout(shown(one)[0])
        if offered(one):
            side = next(side for side in SIDES if f"picture {side}" in one.task.text)
            views = [_layout(picture) for picture in offered(one)]
            expected = _walked(first, side)
            misfits = [sum(np.hypot(*(view[n] - expected[n])) for n in first) for view in views]
            assert int(np.argmin(misfits)) == chosen(one), misfits
            for view, other in combinations(views, 2):
                assert max(np.abs(view[n] - other[n]).max() for n in first) > 0.15
        else:
            side = next(side for side in SIDES if f"third picture is taken {side}" in one.task.text)
            third = _walked(first, side)
            if "nearest" in one.task.text:
                found = max(third, key=lambda name: third[name][1])
            else:
                sign = -1 if "farthest to the left" in one.task.text else 1
                found = max(third, key=lambda name: sign * third[name][0])
            assert found == said(one)


def _layout(picture: TaskPicture) -> dict[str, NDArray[np.float64]]:
    """Where each thing is on the ground: to the right and to the front, about the middle of the ground."""
    boxes = by_name(picture)
    low, high = {"street": (0.68, 0.95), "garden": (0.70, 0.96), "stadium": (0.60, 0.95)}.get(
        graph(picture).place, (0.72, 0.96)
    )
    return {
        name: np.array([middle(box) - 0.5, (box.bottom - (low + high) / 2) / (high - low)])
        for name, box in boxes.items()
    }


def _walked(layout: dict[str, NDArray[np.float64]], side: str) -> dict[str, NDArray[np.float64]]:
    """The layout for someone who stands at that side and looks at the middle: a rotation, no reflection."""
    turn = {SIDES[0]: [[-1, 0], [0, -1]], SIDES[1]: [[0, 1], [-1, 0]], SIDES[2]: [[0, -1], [1, 0]]}[side]
    assert round(float(np.linalg.det(turn))) == 1
    return {name: np.array(turn) @ point for name, point in layout.items()}


def test_perspective(tasks: dict[str, list[ChooseTask]]) -> None:
    for one in tasks["Forced Perspective"]:
        scenes = [graph(picture) for picture in shown(one)]
        heights = [_high(scene.things[0].box) for scene in scenes]
        real = [high / _high(scene.figures[0].box) for high, scene in zip(heights, scenes, strict=True)]
        pick = np.argmax if "largest" in one.task.text else np.argmin
        assert f"picture {int(pick(real)) + 1}" == said(one)
        assert int(pick(heights)) != chosen(one)  # it is forced: another one looks so


def _high(box: Box) -> float:
    return box.bottom - box.top


def test_chart(tasks: dict[str, list[ChooseTask]]) -> None:
    for one in tasks["Chart Analysis"]:
        charts = [_chart(picture) for picture in shown(one)]
        labels, text = charts[0].labels, one.task.text
        if "pie" in text:
            shares = [_shares(_chart(picture)) for picture in offered(one)]
            assert [place for place, share in enumerate(shares) if share == _shares(charts[0])] == [chosen(one)]
            continue
        first, last = charts[0].values, charts[-1].values
        if "grew" in text or "fell" in text:
            scores = [b - a if "grew" in text else a - b for a, b in zip(first, last, strict=True)]
            assert labels[int(np.argmax(scores))] == said(one)
        elif "total" in text:
            totals = np.sum([chart.values for chart in charts], axis=0)
            assert labels[int((np.argmax if "largest" in text else np.argmin)(totals))] == said(one)
        else:
            found = int((np.argmax if "largest" in text else np.argmin)(first))
            assert str(last[found]) == said(one)


def _chart(picture: TaskPicture) -> Chart:
    assert isinstance(picture.recipe, Chart)
    return picture.recipe


def _shares(chart: Chart) -> list[float]:
    return [round(value / sum(chart.values), 6) for value in chart.values]


def test_charts_show_their_values_in_pixels() -> None:
    """The height of each bar, measured in the picture."""
    from sightline_world.choose.charts import TOP, plot

    chart = Chart("bars", "Kites", ("a", "b", "c", "d"), (10, 45, 72, 100), 0, False)
    image = np.asarray(plot(chart, (320, 240)).image, dtype=np.int16)
    paper = image[60, 2]
    full = 0.70 * 240
    for place, value in enumerate(chart.values):
        column = image[:, round(320 * (0.115 + 0.855 * (place + 0.5) / 4))]
        coloured = np.abs(column - paper).sum(axis=1) > 150
        assert coloured[41:209].sum() == pytest.approx(full * value / TOP, abs=4)


def test_satire(tasks: dict[str, list[ChooseTask]]) -> None:
    for one in tasks['"YES, BUT" Satire']:
        yes, but = (graph(picture) for picture in shown(one))
        point = _point(yes, but)
        kind = yes.things[0].kind
        meant = {text.format(kind=kind) for text in POINTS[point].said}
        assert [option.key for option in one.task.options if option.text in meant] == [one.truth.option]


def _point(yes: SceneGraph, but: SceneGraph) -> str:
    """The one way in which the panels differ."""
    if yes.light != but.light:
        return "washed out"
    if not but.things:
        return "lost"
    if len(but.things) > len(yes.things):
        return "crowded"
    if but.things[0].size != yes.things[0].size:
        return "shrunken"
    if but.things[0].colour != yes.things[0].colour:
        return "faded"
    if len(yes.figures) > 1:
        return "forsaken"
    return "overrun" if len(but.figures) > 1 else "moved away"


def test_weight(tasks: dict[str, list[ChooseTask]]) -> None:
    for one in tasks["Weight Comparison"]:
        heavier: dict[str, set[str]] = {}
        for picture, (left, right) in zip(shown(one), _sides(one), strict=True):
            balance = picture.recipe
            assert isinstance(balance, Balance)
            assert (right.bottom > left.bottom) == (balance.tilt > 0)
            names = (balance.left.the, balance.right.the)
            low, high = names[::-1] if right.bottom > left.bottom else names
            heavier.setdefault(low, set()).add(high)
            heavier.setdefault(high, set())
        ranked = sorted(heavier, key=lambda name: -len(_below(name, heavier)))
        assert [len(_below(name, heavier)) for name in ranked] == list(range(len(ranked)))[::-1]
        word = re.search(r"Which is the (\w+ ?\w*) of the", one.task.text)
        assert word
        place = {"heaviest": 0, "second heaviest": 1, "second lightest": -2, "lightest": -1}[word[1]]
        assert ranked[place] == said(one)


def _sides(one: ChooseTask) -> list[tuple[Box, Box]]:
    """The boxes of the left and the right thing on each balance."""
    refs = next(step.pictures for step in one.truth.steps if step.kind == "region-to-region")
    boxes = [ref.region for ref in refs if ref.region is not None]
    assert all(left.right < right.left for left, right in zip(boxes[::2], boxes[1::2], strict=True))
    return list(zip(boxes[::2], boxes[1::2], strict=True))


def _below(name: str, heavier: dict[str, set[str]]) -> set[str]:
    """All that is lighter, by way of any number of balances."""
    return heavier[name].union(*(_below(other, heavier) for other in heavier[name]))


def test_blur(tasks: dict[str, list[ChooseTask]]) -> None:
    kinds = set()
    for one in tasks["Scale Blur"]:
        kinds.add(one.task.text.split("\n")[0][:20])
        if "sharpest" in one.task.text:
            assert order([_sharpness(picture) for picture in shown(one)], descending=True) == said(one)
        elif "widest" in one.task.text:
            widths = [_part(picture)[2] - _part(picture)[0] for picture in shown(one)]
            assert order(widths, descending=True) == said(one)
        else:
            assert _before(one) == chosen(one)
    assert len(kinds) == 3


def _sharpness(picture: TaskPicture) -> float:
    image = pixels(picture)
    return float(np.square(np.diff(image, axis=1)).mean() + np.square(np.diff(image, axis=0)).mean())


def _before(one: ChooseTask) -> int:
    """The option that looks like the prompt's picture once it is blurred as much."""
    lost = shown(one)[0]
    assert isinstance(lost.recipe, Altered)
    radius = lost.recipe.blur * lost.size[1] / 1000
    away = []
    for picture in offered(one):
        with Image.open(io.BytesIO(picture.file)) as image:
            soft = np.asarray(image.filter(ImageFilter.GaussianBlur(radius)), dtype=np.float64)
        away.append(float(np.abs(soft - pixels(lost)).mean()))
    return int(np.argmin(away))


def test_harder_is_closer() -> None:
    """The dial: between the fastest and the next, the heavier and the lighter side, the blurs of two pictures."""

    def ratio(level: float) -> float:
        gaps = []
        for one in choose_tasks(12, "dial", level, ("Speed Comparison",), size=(160, 120)):
            first, last = by_name(shown(one)[0]), by_name(shown(one)[-1])
            ways = sorted(abs(middle(last[name]) - middle(box)) for name, box in first.items())
            gaps.append(ways[-2] / ways[-1] if "fastest" in one.task.text else ways[0] / ways[1])
        return sum(gaps) / len(gaps)

    def tilt(level: float) -> float:
        found = choose_tasks(12, "dial", level, ("Weight Comparison",), size=(96, 72))
        tilts = [abs(p.recipe.tilt) for one in found for p in one.pictures if isinstance(p.recipe, Balance)]
        return sum(tilts) / len(tilts)

    assert ratio(0.0) + 0.1 < ratio(1.0)
    assert tilt(0.0) > 1.5 * tilt(1.0)


CHECKED: dict[str, Callable[[dict[str, list[ChooseTask]]], None]] = {
    "Speed Comparison": test_speed,
    "Motion Detection": test_motion,
    "Cooking Process": test_cooking,
    "Image Puzzle": test_puzzle,
    "Location Relationship": test_location,
    "Depth Relationship": test_depth,
    "3D View": test_view,
    "Forced Perspective": test_perspective,
    "Chart Analysis": test_chart,
    '"YES, BUT" Satire': test_satire,
    "Weight Comparison": test_weight,
    "Scale Blur": test_blur,
}


def test_every_subtask_is_checked_here(tasks: dict[str, list[ChooseTask]]) -> None:
    assert tuple(CHECKED) == ALL
    assert all(len(found) >= EACH for found in tasks.values())
