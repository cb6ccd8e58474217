"""Pictures are chosen by class, by how far they are from each other, and by how unlike their class they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reason.think_tools import source_of
from sightline.errors import UserError
from sightline.reason.traces.choice import Choose, PictureSelection
from sightline.reason.traces.records import PictureKnowledge, TracePicture

CATS, DOGS = [f"cat{n}" for n in range(6)], [f"dog{n}" for n in range(3)]


def _subjects() -> list[TracePicture]:
    return [TracePicture(name, f"/{name}.jpg", PictureKnowledge((name[:3],))) for name in (*CATS, *DOGS)]


def _vectors(folder: Path) -> Path:
    """Cats 0 to 4 are nearly the same, cat 5 points elsewhere; dog 2 is unlike dogs 0 and 1."""
    angles = {**{f"cat{n}": n / 50 for n in range(5)}, "cat5": 1.2, "dog0": 2.0, "dog1": 2.1, "dog2": 3.0}
    names = [*CATS, *DOGS]
    rows = np.array([[np.cos(angles[name]), np.sin(angles[name])] for name in names], np.float32)
    np.savez(folder / "v.npz", ids=np.array(names), vectors=rows)
    return folder / "v.npz"


def _chosen(choice: PictureSelection) -> list[str]:
    source = choice.apply(source_of(_subjects()))
    found = [subject.picture for subject in source.subjects()]
    assert len(found) == source.count
    return found


def test_so_many_of_each_class_and_of_all_in_turn() -> None:
    assert _chosen(PictureSelection(per_class=2)) == ["cat0", "cat1", "dog0", "dog1"]
    assert _chosen(PictureSelection(per_class=4, most=5)) == ["cat0", "cat1", "cat2", "dog0", "dog1"]
    assert _chosen(PictureSelection()) == [*CATS, *DOGS]


@pytest.mark.parametrize(("how", "wanted"), [("diverse", {"cat5", "dog2"}), ("hard", {"cat5", "dog2"})])
def test_what_is_far_from_the_others_is_taken(tmp_path: Path, how: Choose, wanted: set[str]) -> None:
    found = _chosen(PictureSelection(how, per_class=2, vectors=_vectors(tmp_path)))
    assert wanted < set(found)
    assert len(found) == 4
    alone = _chosen(PictureSelection(how, per_class=1, vectors=_vectors(tmp_path)))
    assert (set(alone) == wanted) is (how == "hard")


def test_random_pictures_are_the_same_for_the_same_seed() -> None:
    first, again, other = (_chosen(PictureSelection("random", per_class=2, seed=seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_vectors_must_be_there_for_every_picture(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="takes vectors"):
        _chosen(PictureSelection("diverse"))
    np.savez(tmp_path / "few.npz", ids=np.array(CATS), vectors=np.eye(6, dtype=np.float32))
    with pytest.raises(UserError, match="no vector of 3 of 9"):
        _chosen(PictureSelection("diverse", vectors=tmp_path / "few.npz"))
