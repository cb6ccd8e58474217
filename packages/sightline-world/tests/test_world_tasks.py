from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.validation import validate_benchmark
from sightline.errors import UserError
from sightline.runs.system_loader import visible
from sightline.types import Answer, Box, PictureRef, PictureSet, TaskKind
from sightline_world import captions
from sightline_world.histories import read_shots
from sightline_world.scene import SceneGraph, Sign, Thing
from sightline_world.tasks import (
    KINDS,
    MadeTask,
    TaskAlbum,
    describe,
    details,
    make_tasks,
    mentions,
    multi_hop,
    rank,
    scopes,
    select,
)
from sightline_world.tasks import album as traits
from sightline_world.tasks.album import Sight, Trait, traits_of
from sightline_world.tasks.benchmark import WORLD, benchmark_of, world_benchmark
from sightline_world.tasks.phrases import FAMILIES, LIGHT_WORDS, PLACE_WORDS, Family, every_template, person, said
from sightline_world.tasks.rank import AskPerson, AskThings, RankQuery
from sightline_world.tasks.scopes import BASES, Base
from sightline_world.tasks.select import DEPTH, Best, Condition, Filters, best_filter, f1
from sightline_world.tasks.task import Lot
from world_lives import WrittenLife


@pytest.fixture(scope="module")
def album(written_life: WrittenLife) -> TaskAlbum:
    return TaskAlbum(written_life.life, written_life.shots.values())


# --- phrasing -----------------------------------------------------------------------------------------------


def test_the_families_share_no_template() -> None:
    tables = (module.TEMPLATES for module in (scopes, describe, details, multi_hop, mentions, rank, select))
    families = every_template(*tables, multi_hop.WEB_TEMPLATES)
    assert all(len(families[family]) > 25 for family in FAMILIES)
    for one, other in combinations(FAMILIES, 2):
        assert not families[one] & families[other]
    assert not families["held-out"] & set(captions._TEMPLATES["training"])


def test_every_word_for_places_and_lights_is_used_once() -> None:
    for words in (PLACE_WORDS, LIGHT_WORDS):
        every = [phrase for pair in words.values() for phrase in pair]
        assert len(every) == len(set(every))


def test_people_and_things_in_words() -> None:
    assert (
        person(Trait("person", ("grey", "cap", "blue", "red"))) == "a grey-haired person in a blue cap and a red coat"
    )
    assert person(Trait("person", ("red", "none", "", "")), "the") == "the red-haired, bare-headed person"
    traits_said = (Trait("thing", ("boat", "red")), Trait("light", ("night",)), Trait("place", ("lake",)))
    words = said(traits_said, "training", {("boat", "red")})
    assert words.that == "with my red boat by a lake at night"
    assert words.shows == "show my red boat by a lake at night"
    assert said(traits_said[1:], "held-out").that == "taken on the shore of a lake after dark"


@pytest.mark.parametrize("template", sorted(set().union(*every_template(rank.TEMPLATES).values())))
def test_queries_with_no_place_are_well_formed(template: str) -> None:
    words = rank._filled(template, rank._Query(RankQuery(()), "a red boat", ""))
    assert "a red boat" in words and not set(words[-1]) & set(" ,/:")
    assert not any(odd in words for odd in (" ,", ",.", " .", " ?", "  ", ",,"))


# --- traits -------------------------------------------------------------------------------------------------

BOX, TINY = Box(0.1, 0.1, 0.4, 0.4), Box(0.1, 0.1, 0.11, 0.11)


def test_what_is_hidden_tiny_or_scenery_is_only_perhaps_there() -> None:
    things = (
        Thing("t0", "dog", "black", "small", BOX),
        Thing("t1", "cat", "white", "small", BOX, hidden=0.6),
        Thing("t2", "dog", "white", "small", TINY),
    )
    sure, perhaps = traits_of(SceneGraph("forest", "day", things))
    assert {Trait("thing", ("dog",)), Trait("thing", ("dog", "black")), Trait("nobody")} <= sure
    doubtful = {("thing", "cat"), ("thing", "dog", "white"), ("several", "dog", "2"), ("thing", "tree")}
    assert {Trait(kind, tuple(values)) for kind, *values in doubtful} <= perhaps  # type: ignore[arg-type]
    assert not sure & perhaps


def test_two_doubts_or_a_doubt_and_a_certainty_are_a_doubt() -> None:
    both = Sight(0b0011, 0b0100) & Sight(0b0101, 0b0010)
    assert (both.sure, both.perhaps) == (0b0001, 0b0110)


# --- grades -------------------------------------------------------------------------------------------------


def test_one_attribute_off_costs_one_grade_and_another_place_costs_two() -> None:
    ask = RankQuery((AskThings(("boat",), "red"), AskPerson(coat="blue", hair="grey")), ("lake",), ("day",))
    boat = Thing("t0", "boat", "red", "small", BOX)
    graph = SceneGraph("lake", "day", (boat,))
    assert replace(ask, subjects=ask.subjects[:1]).grade(graph) == 3
    assert replace(ask, subjects=ask.subjects[:1]).grade(replace(graph, light="night")) == 2
    assert replace(ask, subjects=ask.subjects[:1]).grade(replace(graph, things=(replace(boat, colour="pink"),))) == 2
    assert replace(ask, subjects=ask.subjects[:1]).grade(replace(graph, place="beach")) == 1
    assert ask.grade(graph) == 1
    assert replace(ask, subjects=ask.subjects[:1]).grade(replace(graph, things=())) == 0


# --- the check on single pictures ---------------------------------------------------------------------------


def exhaustive(wanted: int, conditions: list[Condition], depth: int) -> float:
    best = 0.0
    for size in range(1, depth + 1):
        for chosen in combinations(conditions, size):
            found = -1
            for each in chosen:
                found &= each.pictures
            best = max(best, f1(found, wanted))
    return best


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 2**10 - 1), st.lists(st.integers(1, 2**10 - 1), min_size=1, max_size=9))
def test_the_pruned_search_finds_the_best_filter(wanted: int, sets: list[int]) -> None:
    conditions = [Condition(str(number), pictures) for number, pictures in enumerate(sets)]
    found = best_filter(wanted, conditions, DEPTH)
    assert found.f1 == exhaustive(wanted, conditions, DEPTH)
    if found.names:
        joint = -1
        for name in found.names:
            joint &= sets[int(name)]
        assert f1(joint, wanted) == found.f1


def test_a_set_that_single_pictures_tell_is_refused(album: TaskAlbum) -> None:
    filters = Filters(album)
    place, light = Trait("place", (album.shots[0].graph.place,)), Trait("light", (album.shots[0].graph.light,))
    told = album.sight((place, light)).sure
    assert best_filter(told, filters.content, DEPTH).f1 == 1.0
    assert filters.proof(told, 0.9) is None


def test_a_set_that_times_tell_is_refused(album: TaskAlbum) -> None:
    filters = Filters(album)
    event = max(album.occasions, key=lambda each: each.event.pictures).pictures
    assert filters.proof(event, 0.95) is None
    assert filters._in_time(event) == Best(1.0, ("span",))


def test_a_task_made_solvable_on_purpose_is_not_made(album: TaskAlbum) -> None:
    """The base is made the whole life, so that the target alone tells: nothing may come out of it."""
    maker = select.SelectMaker(album)
    base = Base("same event", "intra-event", album.dated, "all my days", album.dated, {"in": "other"}, 1)
    for number in range(60):
        lot = Lot(album, Random(number), "training", 0.5)
        assert maker._something(lot, base) is None


def test_pictures_with_a_copy_that_tells_no_time_are_never_sought(album: TaskAlbum) -> None:
    copied = [shot.duplicate_of for shot in album.shots if shot.taken_at is None and shot.duplicate_of]
    assert copied
    sought = {id_ for made in make_tasks(album, "select", 25) for id_ in made.truth.pictures}  # type: ignore[union-attr]
    assert not sought & set(copied)


# --- making -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_no_burst_is_asked_about_twice_and_no_answer_is_a_good_guess(album: TaskAlbum, seed: int) -> None:
    made = make_tasks(album, "answer", 90, seed, difficulty=0.0)
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    bursts: Counter[tuple[str, ...]] = Counter()
    asked: Counter[str] = Counter()
    for each in made:
        assert isinstance(each.truth, Answer)
        answers[each.task.labels["template"][0]][each.truth.text] += 1
        (picture,) = (part for part in each.task.prompt if isinstance(part, PictureRef))
        shot = album.shots[album.number[picture.id]]
        shot = album.shots[album.number[shot.duplicate_of]] if shot.duplicate_of else shot
        bursts[shot.burst] += bool(shot.burst)
        asked[f"{shot.id} {each.task.labels['template']} {each.task.extra['about']}"] += 1
    assert bursts and max(bursts.values()) == 1
    assert max(asked.values()) == 1
    for template, found in answers.items():
        assert max(found.values()) <= math.ceil(found.total() / 3), (template, found)
    assert max(found.total() for found in answers.values()) > 6


def test_equal_arguments_give_equal_tasks_and_a_longer_list_goes_on(album: TaskAlbum) -> None:
    for kind in KINDS:
        few, many = make_tasks(album, kind, 8, seed=3), make_tasks(album, kind, 12, seed=3)
        assert many[:8] == few
        assert make_tasks(album, kind, 8, seed=4) != few


def test_the_order_of_the_truth_does_not_matter(written_life: WrittenLife, album: TaskAlbum) -> None:
    shots = list(written_life.shots.values())
    Random(1).shuffle(shots)
    assert make_tasks(TaskAlbum(written_life.life, shots), "select", 6) == make_tasks(album, "select", 6)


def test_harder_tasks_have_more_hops_and_facts(album: TaskAlbum) -> None:
    def mean(kind: str, label: str, difficulty: float) -> float:
        made = make_tasks(album, kind, 30, difficulty=difficulty)  # type: ignore[arg-type]
        return sum(int(each.task.labels[label][0]) for each in made) / len(made)

    assert mean("select", "hops", 0.0) < mean("select", "hops", 1.0)
    assert mean("answer", "hops", 0.0) < mean("answer", "hops", 1.0)
    assert mean("rank", "facts", 0.0) < mean("rank", "facts", 1.0)
    easy, hard = (make_tasks(album, "describe", 20, difficulty=level) for level in (0.0, 1.0))
    assert sum(facts(each) for each in easy) < sum(facts(each) for each in hard)


def facts(made: MadeTask) -> int:
    found = made.task.extra["facts"]
    return len(found) if isinstance(found, list) else 0


def test_labels_say_how_hard_and_what_is_needed(album: TaskAlbum) -> None:
    for kind in KINDS:
        for made in make_tasks(album, kind, 5, difficulty=0.9):
            labels = made.task.labels
            assert labels["difficulty"] == ("hard",)
            assert {"hops", "needs_zoom", "needs_search", "needs_web", "phrasing"} <= set(labels)


def test_wrong_arguments_and_small_lives_are_refused(written_life: WrittenLife, album: TaskAlbum) -> None:
    with pytest.raises(UserError, match="not a kind"):
        make_tasks(album, "choose", 1)
    with pytest.raises(UserError, match="out of range"):
        make_tasks(album, "rank", 1, difficulty=2)
    with pytest.raises(UserError, match="can't make"):
        make_tasks(album, "rank", -1)
    tiny = TaskAlbum(written_life.life, list(written_life.shots.values())[:6])
    with pytest.raises(UserError, match="only 0 of 3 select tasks"):
        make_tasks(tiny, "select", 3)


@pytest.mark.parametrize("family", FAMILIES[1:])
def test_every_template_of_sets_can_be_filled(album: TaskAlbum, family: Family) -> None:
    for name, make in BASES.items():
        lots = (Lot(album, Random(f"{name}/{number}"), family, 0.5) for number in range(40))
        assert any(make(lot) for lot in lots), name


@pytest.mark.parametrize("kind", KINDS)
def test_the_unseen_family_is_only_for_whoever_asks_for_it(album: TaskAlbum, kind: TaskKind) -> None:
    drawn = make_tasks(album, kind, 12, 3)
    unseen = make_tasks(album, kind, 12, 3, phrasing="unseen")
    assert {task.task.labels["phrasing"] for task in drawn} == {("training",), ("held-out",)}
    assert {task.task.labels["phrasing"] for task in unseen} == {("unseen",)}
    assert not {task.task.text for task in drawn} & {task.task.text for task in unseen}


@pytest.mark.parametrize(("letters", "size", "needed"), [(9.9, 640, True), (10, 640, False), (9.9, 480, False)])
def test_a_sign_needs_a_closer_look_where_letters_are_lost_at_320_px(
    album: TaskAlbum, letters: float, size: int, needed: bool
) -> None:
    shot = replace(album.shots[0], width=size, height=size // 2)
    assert details.needs_zoom(shot, Sign("s0", "OPEN", Box(0, 0, 0.1, 0.1), letter_px=letters)) is needed


# --- on disk ------------------------------------------------------------------------------------------------


def test_a_benchmark_is_written_validates_and_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "bench"
    made = world_benchmark(folder, 5, owners=2, pictures=160, count=12, kinds=(*KINDS, "choose"), size=(96, 72))
    assert validate_benchmark(folder, check_pictures=True) == ()
    again = read_benchmark(folder)
    assert again == made
    assert {task.kind for task in again.tasks.values()} == {*KINDS, "choose"} and len(again.tasks) == 60
    owners = {group.id for group in again.corpus.groups_of("owner")}
    assert len(owners) == 2 == len({task.scope.owner for task in again.tasks.values() if task.kind != "choose"})
    assert all(group.hidden for group in again.corpus.groups_of("event"))
    shown = visible(again)
    assert not shown.corpus.groups_of("event")
    assert all(not task.extra and not task.labels for task in shown.tasks.values())
    moved = folder.rename(tmp_path / "moved")
    assert validate_benchmark(moved) == ()


def test_grades_cover_all_pictures_of_the_owner(written_life: WrittenLife, tmp_path: Path) -> None:
    made = benchmark_of(written_life.folder, tmp_path / "bench", 1, count=4, kinds=("rank", "select"))
    owned = {shot.id for shot in read_shots(written_life.folder)}
    for name, task in made.tasks.items():
        truth = made.truth[name]
        if task.kind == "rank":
            assert set(truth.grades) == owned  # type: ignore[union-attr]
        else:
            assert isinstance(truth, PictureSet) and set(truth.pictures) <= owned
    assert validate_benchmark(tmp_path / "bench") == ()
    assert json.loads((tmp_path / "bench" / "benchmark.json").read_text())["card"]["best_single_picture_f1"] < 0.9


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(UserError, match="other things"):
        world_benchmark(tmp_path, 1, pictures=30, count=1)
    assert not (tmp_path / WORLD).exists()


def test_thresholds_agree_with_those_of_lives() -> None:
    from sightline_world.histories import render, writer

    assert (traits.NOTICED_HIDDEN, traits.NOTICED_AREA) == (render.SEEN_HIDDEN, render.SEEN_AREA)
    assert (traits.READ_PX, traits.READ_HIDDEN) == (writer.LEGIBLE_PX, writer.LEGIBLE_HIDDEN)
