from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from PIL import Image, ImageChops

from sightline.errors import UserError
from sightline.types import Box
from sightline_world.draw import (
    KINDS,
    PLACES,
    Camera,
    PersonWish,
    ScenePlan,
    SignWish,
    Spot,
    ThingWish,
    compose,
    draw,
    jpeg,
    pin,
)
from sightline_world.draw.kinds import HOLDS, RIDERS, SUPPORTS
from sightline_world.draw.visibility import COVERED
from sightline_world.scene import SCENE_KINDS, SCENE_LIGHTS, SCENE_PLACES, SCENE_SIZES, Relation, SceneGraph
from sightline_world.scene_pairs import Attribute, variable, vary
from sightline_world.scene_plans import random_plan

CLEAN = Camera(noise=0.0, vignette=False)
HELD = Camera(tilt=6.0, zoom=1.15, aim=(0.3, 0.7), keystone=0.03, noise=0.0, vignette=False)
HOMES = {"ground": "desert", "water": "lake", "sky": "desert", "table": "kitchen", "far": "desert"}


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without shadows, mirror images and lights, which are no part of a thing."""
    for name in ("_shadow", "_reflect", "_shine"):
        monkeypatch.setattr(compose, name, lambda *_: None)


def changed(a: Image.Image, b: Image.Image) -> Image.Image:
    bands = ImageChops.difference(a, b).split()
    most = ImageChops.lighter(ImageChops.lighter(bands[0], bands[1]), bands[2])
    return most.point([255 * (value > 14) for value in range(256)])


def pixels(box: Box, size: tuple[int, int] = (320, 240)) -> tuple[float, ...]:
    return (box.left * size[0], box.top * size[1], box.right * size[0], box.bottom * size[1])


def by_id(graph: SceneGraph) -> dict[str, Box]:
    return {one.id: one.box for group in (graph.things, graph.figures, graph.signs) for one in group}


def sha(seed: int) -> str:
    return hashlib.sha256(jpeg(draw(random_plan(seed, 0.8)).image, 85)).hexdigest()


def test_equal_plans_give_equal_bytes_here_and_in_another_process() -> None:
    seeds = (3, 14, 15)
    here = [sha(seed) for seed in seeds]
    assert here == [sha(seed) for seed in reversed(seeds)][::-1], "the order of drawing must not matter"
    code = (
        "import hashlib; from sightline_world.draw import draw, jpeg\n"
        "from sightline_world.scene_plans import random_plan\n"
        "for seed in (15, 3, 14): print(hashlib.sha256(jpeg(draw(random_plan(seed, 0.8)).image, 85)).hexdigest())"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert there == [here[2], here[0], here[1]]


@pytest.mark.parametrize("camera", [CLEAN, HELD], ids=["straight", "tilted"])
@pytest.mark.parametrize("kind", SCENE_KINDS)
@pytest.mark.usefixtures("bare")
def test_the_box_of_a_thing_is_where_it_changes_the_picture(kind: str, camera: Camera) -> None:
    colour = next(name for name in ("red", "black", "green", "white") if name in KINDS[kind].colours)
    spot = Spot(0.5, 0.4, 2)
    plan = ScenePlan(HOMES[KINDS[kind].habitat], "day", things=(ThingWish(kind, colour, spot=spot),), camera=camera)
    drawing = draw(plan)
    where = changed(draw(replace(plan, things=())).image, drawing.image).getbbox()
    assert where is not None
    assert pixels(drawing.graph.things[0].box) == pytest.approx(where, abs=2.0)


@pytest.mark.usefixtures("bare")
def test_the_boxes_of_people_and_signs_are_where_they_change_the_picture() -> None:
    for camera in (CLEAN, HELD):
        plan = ScenePlan("desert", "day", camera=camera)
        empty = draw(plan).image
        spot = Spot(0.45, 0.5, 0)
        person = draw(replace(plan, people=(PersonWish("blue", "black", "hat", "red", spot=spot),)))
        sign = draw(replace(plan, signs=(SignWish("OPEN", "post", "large", dark=True, spot=spot),)))
        assert pixels(person.graph.figures[0].box) == pytest.approx(changed(empty, person.image).getbbox(), abs=2.0)
        assert pixels(sign.graph.signs[0].box) == pytest.approx(changed(empty, sign.image).getbbox(), abs=2.0)


@pytest.mark.usefixtures("bare")
def test_the_hidden_share_is_the_share_of_pixels_that_cannot_be_seen() -> None:
    far = ThingWish("tent", "red", spot=Spot(0.45, 0.1, 0))
    near = ThingWish("suitcase", "blue", "large", spot=Spot(0.5, 0.9, 0))
    plan = ScenePlan("snow", "day", camera=CLEAN)
    empty, alone, front, both = (draw(replace(plan, things=things)) for things in ((), (far,), (near,), (far, near)))
    whole = np.count_nonzero(np.asarray(changed(empty.image, alone.image)))
    seen = np.count_nonzero(np.asarray(changed(front.image, both.image)))
    hidden = both.graph.things[0].hidden
    assert 0.15 < hidden < 0.7
    assert hidden == pytest.approx(1 - seen / whole, abs=0.04)
    assert both.graph.things[1].hidden == 0.0
    assert Relation("t0", "behind", "t1") in both.graph.relations


def test_what_the_frame_cuts_off_is_hidden_and_what_it_leaves_out_is_not_there() -> None:
    things = (ThingWish("bucket", "red", spot=Spot(0.0, 0.6, 0)), ThingWish("bucket", "blue", spot=Spot(0.9, 0.6, 0)))
    plan = ScenePlan("desert", "day", things=things, camera=replace(CLEAN, zoom=1.4, aim=(1.0, 0.5)))
    graph = draw(plan).graph
    assert [thing.colour for thing in graph.things] == ["blue"]
    assert not graph.relations
    person = PersonWish("green", spot=Spot(0.5, 0.9, 0))
    cut = draw(ScenePlan("desert", "day", people=(person,), camera=replace(CLEAN, zoom=1.5, aim=(0.5, 0.0)))).graph
    assert 0.3 < cut.figures[0].hidden < 0.9
    assert cut.figures[0].box.bottom == 1.0


def test_relations_are_exactly_those_that_the_rules_give() -> None:
    for seed in range(40):
        plan = random_plan(seed, 0.7)
        graph = draw(plan).graph
        boxes = by_id(graph)
        hidden = {one.id: one.hidden for group in (graph.things, graph.figures, graph.signs) for one in group}
        carried = {(r.subject, r.object) for r in graph.relations if r.predicate in ("on", "holding")}
        assert carried == {
            (r.subject, r.object)
            for r in plan.relations
            if r.predicate in ("on", "holding") and {r.subject, r.object} <= boxes.keys()
        }
        for relation in graph.relations:
            a, b = boxes[relation.subject], boxes[relation.object]
            if relation.predicate == "left of":
                assert (b.left + b.right - a.left - a.right) / 2 > 0.08
            elif relation.predicate == "behind":
                assert hidden[relation.subject] >= COVERED - 0.03
                assert Relation(relation.object, "behind", relation.subject) not in graph.relations
        assert len(set(graph.relations)) == len(graph.relations)


def test_left_of_needs_one_depth_band_and_a_gap() -> None:
    def graph(*spots: Spot) -> SceneGraph:
        things = tuple(ThingWish("bucket", "red", spot=spot) for spot in spots)
        return draw(ScenePlan("desert", "day", things=things, camera=CLEAN)).graph

    beside = graph(Spot(0.2, 0.5, 0), Spot(0.7, 0.55, 0))
    assert beside.relations == (Relation("t0", "left of", "t1"),)
    assert graph(Spot(0.2, 0.0, 0), Spot(0.7, 1.0, 0)).relations == ()
    assert Relation("t0", "left of", "t1") not in graph(Spot(0.50, 0.5, 0), Spot(0.57, 0.5, 0)).relations


def test_wished_relations_hold_in_most_plans_and_the_others_are_reported() -> None:
    wished = unmet = 0
    for seed in range(250):
        plan = random_plan(seed)
        if plan.relations:
            drawing = draw(plan)
            assert set(drawing.unmet) == set(plan.relations) - set(drawing.graph.relations)
            wished += 1
            unmet += bool(drawing.unmet)
    assert wished > 100
    assert unmet <= 0.05 * wished
    things = (ThingWish("kite", "red"), ThingWish("dog", "brown"))
    impossible = Relation("t0", "left of", "t1")
    assert draw(ScenePlan("beach", "day", things=things, relations=(impossible,))).unmet == (impossible,)


@pytest.mark.parametrize("kind", sorted(HOLDS))
def test_what_is_held_touches_the_one_who_holds_it(kind: str) -> None:
    wish = ThingWish(kind, KINDS[kind].colours[0])
    plan = ScenePlan("desert", "day", 0, (wish,), (PersonWish("blue"),), relations=(Relation("p0", "holding", "t0"),))
    for seed in "abc":
        graph = draw(replace(plan, seed=seed)).graph
        assert Relation("p0", "holding", "t0") in graph.relations
        thing, person = graph.things[0].box, graph.figures[0].box
        assert thing.left < person.right + 0.01 and person.left - 0.01 < thing.right
        assert person.top - 0.45 < thing.top < person.bottom and thing.bottom < person.bottom + 0.01


@pytest.mark.parametrize("below", sorted(SUPPORTS))
def test_what_is_on_something_stands_within_it(below: str) -> None:
    for above in RIDERS[:4]:
        things = (ThingWish(below, "blue"), ThingWish(above, KINDS[above].colours[0]))
        graph = draw(ScenePlan("desert", "day", things=things, relations=(Relation("t1", "on", "t0"),))).graph
        support, rider = graph.things[0].box, graph.things[1].box
        assert support.left - 0.02 < (rider.left + rider.right) / 2 < support.right + 0.02
        assert rider.top < support.bottom and support.top - 0.01 < rider.bottom < support.bottom


def test_sizes_differ_by_half_at_one_distance() -> None:
    heights = []
    for size in SCENE_SIZES:
        wish = ThingWish("dog", "black", size, spot=Spot(0.5, 0.5, 0))
        box = draw(ScenePlan("garden", "day", things=(wish,))).graph.things[0].box
        heights.append(box.bottom - box.top)
    assert heights[1] / heights[0] == pytest.approx(1.5, abs=0.12)
    assert heights[2] / heights[1] == pytest.approx(1.5, abs=0.12)


def test_nearer_things_are_larger() -> None:
    far, near = (
        draw(ScenePlan("garden", "day", things=(ThingWish("dog", "black", spot=Spot(0.5, v, 0)),))).graph.things[0].box
        for v in (0.0, 1.0)
    )
    assert near.bottom - near.top > 1.3 * (far.bottom - far.top)
    assert near.bottom > far.bottom


def test_a_thing_where_it_cannot_be_is_refused() -> None:
    with pytest.raises(UserError, match="boat in a kitchen"):
        draw(ScenePlan("kitchen", "day", things=(ThingWish("boat", "red"),)))
    with pytest.raises(UserError, match="people in a kitchen"):
        draw(ScenePlan("kitchen", "day", people=(PersonWish("red"),)))


def test_a_relation_that_cannot_be_drawn_is_refused() -> None:
    things = (ThingWish("suitcase", "red"), ThingWish("dog", "brown"), ThingWish("bench", "blue"))
    plan = ScenePlan("garden", "day", things=things, people=(PersonWish("red"),))
    for wish in (
        Relation("t0", "on", "t1"),
        Relation("t1", "holding", "t0"),
        Relation("p0", "holding", "t2"),
        Relation("p0", "on", "t2"),
        Relation("t0", "on", "p0"),
    ):
        with pytest.raises(UserError, match="can't be drawn"):
            draw(replace(plan, relations=(wish,)))


def test_letters_grow_with_the_picture_and_some_need_a_zoom() -> None:
    sizes = {}
    for size in SCENE_SIZES:
        for wide in (320, 1280):
            sign = SignWish("MUSEUM", size=size, spot=Spot(0.5, 0.3, 0))
            drawn = draw(ScenePlan("station", "day", signs=(sign,), size=(wide, wide * 3 // 4)))
            sizes[size, wide] = drawn.graph.signs[0].letter_px
    assert sizes["small", 320] < 6 < 9 <= sizes["large", 320]
    assert sizes["small", 1280] == pytest.approx(4 * sizes["small", 320], rel=0.05) and sizes["small", 1280] > 14


@pytest.mark.parametrize("seed", range(12))
def test_a_pinned_plan_draws_the_same_picture(seed: int) -> None:
    plan = random_plan(seed, 0.8)
    first, again = draw(plan), draw(pin(plan))
    assert first.graph == again.graph
    assert first.image.tobytes() == again.image.tobytes()


def plain(graph: SceneGraph) -> dict[str, object]:
    """What a graph says of each, without where it is."""
    facts: dict[str, object] = {"place": graph.place, "light": graph.light}
    facts |= {thing.id: (thing.kind, thing.colour, thing.size) for thing in graph.things}
    facts |= {one.id: (one.hair, one.headgear, one.headgear_colour, one.coat) for one in graph.figures}
    return facts | {sign.id: sign.words for sign in graph.signs}


@pytest.mark.parametrize("attribute", get_args(Attribute))
def test_a_variation_changes_one_attribute_and_moves_nothing(attribute: Attribute) -> None:
    tried = 0
    for seed in range(40):
        plan = replace(random_plan(seed, 0.6), camera=CLEAN)
        if attribute not in variable(plan) or tried == 8:
            continue
        tried += 1
        before, after = draw(plan), draw(vary(plan, attribute, seed))
        old, new = plain(before.graph), plain(after.graph)
        different = {name for name in old.keys() & new.keys() if old[name] != new[name]}
        boxes = by_id(after.graph)
        moved = {
            name
            for name, box in by_id(before.graph).items()
            if name in boxes and pixels(boxes[name]) != pytest.approx(pixels(box), abs=1.5)
        }
        assert before.image.tobytes() != after.image.tobytes()
        if attribute in ("place", "light"):
            assert different == {attribute}
        elif attribute == "count":
            kinds = [Counter((t.kind, t.colour) for t in graph.things) for graph in (before.graph, after.graph)]
            assert sum(((kinds[0] - kinds[1]) + (kinds[1] - kinds[0])).values()) <= 1
        elif attribute == "relation":
            assert not different
            assert set(before.graph.relations) != set(after.graph.relations) or before.unmet
        else:
            assert len(different) <= 1
        if attribute in ("light", "colour", "coat"):
            assert not moved
    assert tried == 8


def test_a_variation_that_cannot_be_had_is_refused() -> None:
    with pytest.raises(UserError, match="no headgear to change"):
        vary(ScenePlan("kitchen", "day"), "headgear", 0)


def test_random_plans_cover_the_world_evenly() -> None:
    plans = [random_plan(seed) for seed in range(2500)]
    places, lights = Counter(plan.place for plan in plans), Counter(plan.light for plan in plans)
    assert set(places) == set(SCENE_PLACES) and max(places.values()) < 3 * min(places.values())
    assert set(lights) == set(SCENE_LIGHTS) and max(lights.values()) < 1.4 * min(lights.values())
    kinds = Counter(kind for plan in plans for kind in {thing.kind for thing in plan.things})
    assert set(kinds) == set(SCENE_KINDS) and min(kinds.values()) > 30
    counts = Counter(n for plan in plans for n in Counter((t.kind, t.colour) for t in plan.things).values())
    assert all(counts[number] > 60 for number in range(1, 7))
    assert {len(plan.people) for plan in plans} >= {0, 1, 2, 3}
    assert {len(plan.signs) for plan in plans} == {0, 1, 2}
    assert {r.predicate for plan in plans for r in plan.relations} == {"left of", "behind", "on", "holding"}
    assert all(thing.kind not in PLACES[plan.place].scenery_kinds for plan in plans for thing in plan.things)


def test_difficulty_adds_things_and_a_worse_camera() -> None:
    easy, hard = ([random_plan(seed, difficulty) for seed in range(300)] for difficulty in (0.0, 1.0))
    assert sum(len(plan.things) + len(plan.people) for plan in hard) > 1.4 * sum(
        len(plan.things) + len(plan.people) for plan in easy
    )
    assert all(plan.camera.tilt == plan.camera.blur == 0 for plan in easy)
    assert any(abs(plan.camera.tilt) > 4 for plan in hard)
