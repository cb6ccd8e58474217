from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageOps

from sightline.corpus.names import path_of
from sightline.errors import UserError
from sightline_world.captions import caption
from sightline_world.histories import corpus_of, read_history, read_shots, read_world, write_history, write_world
from sightline_world.histories.frames import COPIES
from sightline_world.histories.render import is_shown
from sightline_world.histories.towns import town_map
from sightline_world.histories.writer import LEGIBLE_HIDDEN, LEGIBLE_PX
from sightline_world.scene import SCENE_KINDS, SCENE_LIGHTS, SCENE_PLACES
from world_lives import WrittenLife

SMALL = (160, 120)


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


# --- writing -----------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bytes_and_another_seed_gives_others(tmp_path: Path) -> None:
    first = write_history(tmp_path / "a", seed=5, pictures=40, size=SMALL)
    again = write_history(tmp_path / "b", seed=5, pictures=40, size=SMALL)
    other = write_history(tmp_path / "c", seed=6, pictures=40, size=SMALL)
    assert first == again != other
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_worker_processes_write_the_same_bytes(tmp_path: Path) -> None:
    world = write_world(tmp_path / "a", seed=2, owners=2, pictures=40, size=SMALL)
    wide = write_world(tmp_path / "b", seed=2, owners=2, pictures=40, size=SMALL, workers=2)
    assert world.lives == wide.lives
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_a_stopped_run_is_finished_and_only_what_is_missing_or_wrong_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "life"
    write_history(folder, seed=5, pictures=60, size=SMALL)
    wanted = contents(folder)
    truth = (folder / "truth.jsonl").read_bytes()
    # As after a kill: a part of the truth with a line cut off, no life, and a file of the first event damaged.
    lines = truth.splitlines(keepends=True)
    (folder / "truth.partial.jsonl").write_bytes(b"".join(lines[:40]) + lines[40][:100])
    (folder / "truth.jsonl").unlink()
    life = json.loads((folder / "life.json").read_bytes())
    (folder / "making.json").write_text(json.dumps({key: value for key, value in life.items() if key != "lives"}))
    (folder / "life.json").unlink()
    broken = json.loads(lines[0])["id"]
    (folder / "pictures" / broken).write_bytes(b"half")

    drawn: list[str] = []
    from sightline_world.histories import render

    original = render._original

    def counted(frame: Any) -> Any:
        drawn.append(frame.id)
        return original(frame)

    monkeypatch.setattr(render, "_original", counted)
    write_history(folder, seed=5, pictures=60, size=SMALL)
    assert contents(folder) == wanted
    assert broken in drawn and 0 < len(drawn) < 60
    drawn.clear()
    write_history(folder, seed=5, pictures=60, size=SMALL)
    assert drawn == []


def test_other_lives_and_other_things_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    write_history(tmp_path / "life", seed=5, pictures=10, size=SMALL)
    with pytest.raises(UserError, match="other photo histories"):
        write_history(tmp_path / "life", seed=6, pictures=10, size=SMALL)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(UserError, match="other things"):
        write_history(tmp_path / "mine", seed=6, pictures=10, size=SMALL)
    with pytest.raises(UserError, match="0 owners"):
        write_world(tmp_path / "new", owners=0)
    with pytest.raises(UserError, match="0 workers"):
        write_history(tmp_path / "new", workers=0)
    with pytest.raises(UserError, match="1 to"):
        write_history(tmp_path / "new", pictures=0)
    assert not (tmp_path / "new").exists()


def test_no_two_owners_share_a_belonging_but_they_share_kinds_and_the_map(tmp_path: Path) -> None:
    world = write_world(tmp_path, seed=4, owners=3, pictures=12, size=SMALL)
    names = [item.name for life in world.lives for item in life.belongings]
    assert len(names) == len(set(names))
    people = [friend.name for life in world.lives for friend in life.friends]
    assert len(people) == len(set(people))
    kinds = [{item.kind for item in life.belongings} for life in world.lives]
    assert kinds[0] & kinds[1] & kinds[2]
    assert read_world(tmp_path) == world
    with pytest.raises(UserError, match="3 photo histories"):
        read_history(tmp_path)
    towns = {town.name: town for town in town_map(4)}
    assert all(towns[town.name] == town for life in world.lives for town in life.towns)


# --- truth -------------------------------------------------------------------------------------------------


def test_truth_read_back_is_what_was_written(written_life: WrittenLife) -> None:
    assert read_history(written_life.folder) == written_life.life
    assert len(written_life.shots) == 240
    files = {path.relative_to(written_life.folder / "pictures").as_posix() for path in pictures(written_life.folder)}
    assert files == set(written_life.shots)


def pictures(folder: Path) -> list[Path]:
    return [path for path in (folder / "pictures").rglob("*") if path.is_file()]


def test_files_have_the_size_and_the_bytes_that_the_truth_says(written_life: WrittenLife) -> None:
    for shot in written_life.shots.values():
        path = written_life.folder / "pictures" / shot.id
        assert hashlib.sha256(path.read_bytes()).hexdigest() == shot.sha256
        with Image.open(path) as image:
            assert ImageOps.exif_transpose(image).size == (shot.width, shot.height)


def test_events_have_as_many_pictures_as_they_say_within_their_days(written_life: WrittenLife) -> None:
    events = {event.id: event for event in written_life.life.events}
    taken = Counter(shot.event for shot in written_life.shots.values() if shot.event and shot.copy is None)
    assert taken == {event.id: event.pictures for event in events.values()}
    for shot in written_life.shots.values():
        if shot.event is not None:
            event = events[shot.event]
            assert event.first <= shot.when.date() <= event.last and shot.town == event.town
            assert set(shot.people) <= {*event.friends, written_life.life.owner}
            assert set(shot.belongings) <= set(event.belongings)


def test_every_link_is_visible_in_the_pictures_that_it_names(written_life: WrittenLife) -> None:
    life, shots = written_life.life, written_life.shots
    assert {"belonging", "bought", "friend", "met", "town"} <= {link.kind for link in life.links}
    for link in life.links:
        assert len(link.events) >= 2
        assert {shots[id_].event for id_ in link.pictures} == set(link.events)
        for id_ in link.pictures:
            graph = shots[id_].graph
            if link.kind in ("town", "team"):
                legible = [s.words for s in graph.signs if s.letter_px >= LEGIBLE_PX and s.hidden <= LEGIBLE_HIDDEN]
                assert link.via.upper() in legible
            else:
                items = graph.figures if link.kind in ("friend", "met") else graph.things
                assert any(item.name == link.via and is_shown(item.box, item.hidden) for item in items)
                assert link.via in (*shots[id_].people, *shots[id_].belongings)


def test_a_link_names_all_pictures_that_show_it(written_life: WrittenLife) -> None:
    links = {link.via: link for link in written_life.life.links}
    for item in written_life.life.belongings:
        seen = {shot.id for shot in written_life.shots.values() if item.name in shot.belongings}
        own = {id_ for id_ in seen if written_life.shots[id_].event and written_life.shots[id_].copy is None}
        if item.name in links:
            assert set(links[item.name].pictures) == own
        elif item.bought is None:
            assert len({written_life.shots[id_].event for id_ in own}) < 2


def test_nobody_can_be_taken_for_a_friend_and_nothing_for_a_belonging(written_life: WrittenLife) -> None:
    life = written_life.life
    things = {(item.kind, item.colour): item.name for item in life.belongings}
    looks = {(friend.hair, friend.headgear, friend.headgear_colour): friend.name for friend in life.friends}
    for shot in written_life.shots.values():
        for thing in shot.graph.things:
            assert thing.name == things.get((thing.kind, thing.colour))
        for figure in shot.graph.figures:
            assert figure.name == looks.get((figure.hair, figure.headgear, figure.headgear_colour))


def test_scenes_use_many_of_the_worlds_words(written_life: WrittenLife) -> None:
    graphs = [shot.graph for shot in written_life.shots.values()]
    assert {graph.place for graph in graphs} <= set(SCENE_PLACES)
    assert {graph.light for graph in graphs} <= set(SCENE_LIGHTS)
    assert len({graph.place for graph in graphs}) >= 8
    assert len({thing.kind for graph in graphs for thing in graph.things} & set(SCENE_KINDS)) >= 25
    assert {relation.predicate for graph in graphs for relation in graph.relations} == {
        "left of",
        "behind",
        "on",
        "holding",
    }


def test_all_kinds_of_copies_occur_with_the_truth_of_what_they_show(written_life: WrittenLife) -> None:
    copies = [shot for shot in written_life.shots.values() if shot.copy is not None]
    assert {shot.copy for shot in copies} == set(COPIES)
    for shot in copies:
        assert shot.duplicate_of is not None
        source = written_life.shots[shot.duplicate_of]
        assert source.copy is None and not source.burst
        if shot.copy == "exact":
            assert shot.sha256 == source.sha256 and shot.graph == source.graph
        if shot.copy in ("smaller", "received"):
            assert shot.graph.things == source.graph.things and shot.width < source.width
        if shot.copy == "crop":
            assert {thing.id for thing in shot.graph.things} <= {thing.id for thing in source.graph.things}
        if shot.copy in ("received", "screenshot"):
            assert (shot.taken_at, shot.lat, shot.device, shot.event) == (None, None, None, None)


def test_captions_are_those_of_the_graph(written_life: WrittenLife) -> None:
    for shot in list(written_life.shots.values())[:20]:
        assert shot.captions.short == caption(shot.graph, "short")
        assert shot.captions.full == caption(shot.graph, "full")
        assert len(shot.captions.short.split()) <= 12


def test_names_of_files_do_not_tell_what_they_show(written_life: WrittenLife) -> None:
    for shot in written_life.shots.values():
        name = shot.id.partition("/")[2].lower()
        assert shot.graph.place not in name and not any(thing.kind in name for thing in shot.graph.things)


def test_as_a_corpus_owners_are_shown_and_events_are_hidden(written_life: WrittenLife) -> None:
    corpus = corpus_of(written_life.folder)
    assert list(corpus.pictures) == sorted(written_life.shots)
    assert [group.hidden for group in corpus.groups_of("owner")] == [False]
    events = corpus.groups_of("event")
    assert all(group.hidden for group in events)
    assert {group.id for group in events} == {event.id for event in written_life.life.events}
    picture = next(picture for picture in corpus.pictures.values() if picture.lat is not None)
    assert picture.address == written_life.shots[picture.id].address
    assert path_of(picture.uri).is_file()


def test_damaged_truth_is_refused_with_its_line(tmp_path: Path, written_life: WrittenLife) -> None:
    lines = (written_life.folder / "truth.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "truth.jsonl").write_bytes(lines[0] + lines[1].replace(b'"graph":', b'"scene":'))
    with pytest.raises(UserError, match="line 2"):
        list(read_shots(tmp_path))
    (tmp_path / "life.json").write_text("{}")
    with pytest.raises(UserError, match="make the world again"):
        read_world(tmp_path)
