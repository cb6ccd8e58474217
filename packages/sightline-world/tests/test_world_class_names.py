"""What the world hashes or writes holds no class name that could change: pictures would be drawn again."""

from __future__ import annotations

import hashlib

from sightline_world.histories.people import owner_names
from sightline_world.histories.shots import batches
from sightline_world.histories.towns import town_map
from sightline_world.histories.years import plan_history
from sightline_world.tasks.rank import AskPerson, AskRelation, AskThings, AskWords, RankQuery

BATCHES = "7ea9e38a5d377a9e765bc596457b49d5d5d633050585f9e0d432e69a1ecc52c6"


def test_what_a_batch_of_pictures_depends_on() -> None:
    plan = plan_history(3, owner_names(3, 1)[0], town_map(3), 120, (64, 48))
    found = hashlib.sha256("\n".join(map(repr, batches(plan))).encode()).hexdigest()
    assert found == BATCHES


def test_what_a_query_asks_on_disk() -> None:
    asked = RankQuery(
        (AskThings(("boat",)), AskPerson("red"), AskWords("OPEN"), AskRelation(("a", "b"), "on", ("c", "d")))
    )
    subjects = asked.as_json()["subjects"]
    assert isinstance(subjects, list)
    assert [one["ask"] for one in subjects if isinstance(one, dict)] == [
        "AskThings",
        "AskPerson",
        "AskWords",
        "AskRelation",
    ]
