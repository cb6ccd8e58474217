"""What a scan finds in a written life, against the truth."""

from __future__ import annotations

from collections import defaultdict

import pytest

from sightline.calls.session import Session
from sightline.config import Config
from sightline.corpus.view import open_corpus
from sightline.pictures import scan
from sightline.types import Corpus
from world_lives import WrittenLife


@pytest.fixture(scope="module")
def scanned(written_life: WrittenLife, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    workspace = tmp_path_factory.mktemp("lives-scan") / "ws"
    config = Config.model_validate({"scan": {"owner_pattern": "{owner}/*"}})
    folder = written_life.folder
    summary = scan(folder / "pictures", metadata=folder / "addresses.jsonl", session=Session(workspace, config))
    assert summary.pictures == len(written_life.shots) and not summary.skipped
    return open_corpus(workspace)


def test_times_positions_devices_and_addresses_are_those_of_the_truth(
    written_life: WrittenLife, scanned: Corpus
) -> None:
    for shot in written_life.shots.values():
        picture = scanned.pictures[shot.id]
        assert (picture.taken_at, picture.device) == (shot.taken_at, shot.device)
        assert (picture.width, picture.height) == (shot.width, shot.height)
        assert picture.sha256 == shot.sha256
        if shot.lat is None:
            assert (picture.lat, picture.lon, picture.altitude, picture.address) == (None, None, None, None)
        else:
            assert (picture.lat, picture.lon) == pytest.approx((shot.lat, shot.lon), abs=1e-6)
            assert picture.altitude == pytest.approx(shot.altitude, abs=0.01)
            assert picture.address == shot.address
        assert picture.extra["owner"] == shot.owner


def test_events_are_found_with_b_cubed_precision_and_recall_of_at_least_nine_tenths(
    written_life: WrittenLife, scanned: Corpus
) -> None:
    found = {id_: group.id for group in scanned.groups_of("event") for id_ in group.pictures}
    shots = [shot for shot in written_life.shots.values() if shot.event and shot.taken_at]
    true_members, found_members = defaultdict(set), defaultdict(set)
    for shot in shots:
        true_members[shot.event].add(shot.id)
        found_members[found[shot.id]].add(shot.id)
    common = [len(true_members[shot.event] & found_members[found[shot.id]]) for shot in shots]
    pairs = list(zip(shots, common, strict=True))
    precision = sum(count / len(found_members[found[shot.id]]) for shot, count in pairs) / len(shots)
    recall = sum(count / len(true_members[shot.event]) for shot, count in pairs) / len(shots)
    assert precision >= 0.9
    assert recall >= 0.9


def test_bursts_are_found(written_life: WrittenLife, scanned: Corpus) -> None:
    found = {id_: group.id for group in scanned.groups_of("burst") for id_ in group.pictures}
    bursts = {shot.burst for shot in written_life.shots.values() if shot.burst}
    whole = [burst for burst in bursts if burst[0] in found and len({found.get(id_) for id_ in burst}) == 1]
    assert len(bursts) >= 8
    assert len(whole) >= 0.9 * len(bursts)
    for group in scanned.groups_of("burst"):
        assert len({written_life.shots[id_].burst for id_ in group.pictures}) == 1


def test_copies_are_found_unless_cropped_or_framed(written_life: WrittenLife, scanned: Corpus) -> None:
    found = {id_: group.id for group in scanned.groups_of("duplicate") for id_ in group.pictures}
    copies = [shot for shot in written_life.shots.values() if shot.copy in ("exact", "smaller", "received")]
    assert len(copies) >= 4
    for shot in copies:
        assert shot.id in found and found[shot.id] == found[str(shot.duplicate_of)]
