"""Why pictures were missed, and which error an attempt made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent_bench import ANA
from sightline.agent.attribution import attribute, summary
from sightline.agent.trajectory import End, Memory, Start, Trajectory, Turn, Use, ViewedPicture
from sightline.benchmark.formats.replies import to_exact
from sightline.types import Failure, PictureSet

EVENTS = {**dict.fromkeys(ANA[:3], "one"), **dict.fromkeys(ANA[3:], "two")}
START = Start("find", 0, "select", "m", (), "system", ("the boats",))


def use(tool: str, found: tuple[str, ...] = (), shown: tuple[str, ...] = (), **more: Any) -> Use:
    pictures = tuple(ViewedPicture(name, None, name) for name in shown)
    return Use("c", tool, "{}", "…", pictures, (*found, *shown), **more)


def made(*turns: Turn, said: Any, forced: str | None = None, **more: Any) -> Trajectory:
    prediction = said if isinstance(said, Failure) else PictureSet(tuple(said))
    return Trajectory(START, turns, End("finish", to_exact(prediction), forced, turns=len(turns), **more))


def turn(*uses: Use, text: str = "") -> Turn:
    return Turn(1, "r", text, text, uses)


FOUND = turn(use("ImageSearch", ANA[:3]))
SEEN = turn(use("ViewPhotos", shown=ANA[:2]))


@pytest.mark.parametrize(
    ("trajectory", "miss"),
    [
        (made(turn(), said=[]), "never retrieved"),
        (made(FOUND, said=[]), "retrieved not viewed"),
        (made(FOUND, SEEN, said=[]), "viewed not recognised"),
        (made(FOUND, SEEN, turn(text=f"{ANA[0]} fits."), said=[]), "dropped"),
        (made(FOUND, SEEN, turn(text=f"{ANA[0]} does not fit."), said=[]), "viewed not recognised"),
        (made(FOUND, SEEN, turn(use("Combine", saved={"x": ANA[:1]})), said=[]), "viewed not recognised"),
        (made(FOUND, said=[], forced="turns"), "stopped early"),
        (made(FOUND, said=Failure("timeout", "")), "stopped early"),
        (Trajectory(START, (FOUND,)), "stopped early"),
    ],
)
def test_each_miss_has_its_reason(trajectory: Trajectory, miss: str) -> None:
    assert attribute(trajectory, PictureSet((ANA[0],))).misses == {ANA[0]: miss}


def test_saving_by_id_is_holding_on() -> None:
    saved = replace(use("Combine", saved={"x": (ANA[0],)}), arguments=f'{{"photos": ["{ANA[0]}"], "save_as": "x"}}')
    assert attribute(made(FOUND, SEEN, turn(saved), said=[]), PictureSet((ANA[0],))).misses == {ANA[0]: "dropped"}


@pytest.mark.parametrize(
    ("trajectory", "error"),
    [
        (made(FOUND, SEEN, said=ANA[:2]), None),
        (made(FOUND, said=Failure("timeout", "")), "External Failure"),
        (Trajectory(START, (FOUND,)), "External Failure"),
        (made(FOUND, SEEN, said=ANA[:1], unknown=("zzz",)), "Hallucination & Bookkeeping"),
        (made(FOUND, SEEN, said=[ANA[5]]), "Hallucination & Bookkeeping"),
        (made(turn(use("ImageSearch", ANA[3:])), said=[]), "Clue Mislocalization"),
        (made(turn(use("ImageSearch", ANA)), said=ANA[3:4]), "Episode Misgrounding"),
        (made(FOUND, said=ANA[:3]), "Visual Discrimination"),
        (made(FOUND, SEEN, said=[]), "Visual Discrimination"),
        (made(FOUND, said=ANA[:1]), "Reasoning Breakdown"),
    ],
)
def test_each_error_has_its_class(trajectory: Trajectory, error: str | None) -> None:
    assert attribute(trajectory, PictureSet(ANA[:2]), EVENTS).error == error


def test_a_summary_counts() -> None:
    found = [
        attribute(made(FOUND, SEEN, said=ANA[:2]), PictureSet(ANA[:2])),
        attribute(made(FOUND, said=[]), PictureSet(ANA[:2])),
        attribute(made(turn(), said=[]), PictureSet(())),  # Nothing to be found, and nothing said: right.
    ]
    counted: Any = summary(found)
    assert counted["attempts"] == 3 and counted["right"] == 2
    assert counted["misses"]["retrieved not viewed"] == 2 and sum(counted["errors"].values()) == 1


def memory(text: str, made_by: str = "m") -> Memory:
    return Memory("tokens", text, made_by)


LISTED = (
    f'Noted found: {{"search x": ["{ANA[0]}"]}}\nNoted times: {{"{ANA[0]}": "2020"}}\nNoted looks: {{"{ANA[0]}": "x"}}'
)


@pytest.mark.parametrize(
    ("steps", "miss"),
    [
        ([turn(text=f'Noted target no: ["{ANA[0]}"]\n{LISTED}')], "viewed not recognised"),
        ([turn(text=f'Noted occasion a no: ["{ANA[0]}"]\nNoted target yes: ["{ANA[0]}"]\n{LISTED}')], "dropped"),
        ([turn(text=LISTED)], "viewed not recognised"),
        ([memory(LISTED)], "viewed not recognised"),
        ([memory(f"- ViewPhotos {{}}: {ANA[0]}", "outline")], "viewed not recognised"),
        ([memory(f"Looked at so far: {ANA[0]}")], "viewed not recognised"),
        ([memory(f"Photos that fit:\n- {ANA[0]}\n- {ANA[1]}")], "dropped"),
        ([memory(f"Photos that do not fit:\n- {ANA[0]}")], "viewed not recognised"),
        ([turn(text=f"{ANA[0]} does not fit."), turn(text=f"So far: {ANA[0]}.")], "viewed not recognised"),
        ([turn(text=f"{ANA[0]} does not fit."), turn(text=f"{ANA[0]} fits after all.")], "dropped"),
        ([turn(text=f"{ANA[0]} fits."), turn(text=f"{ANA[0]} is wrong.")], "viewed not recognised"),
    ],
)
def test_a_rejection_wins_over_a_mention(steps: list[Turn | Memory], miss: str) -> None:
    end = End("finish", to_exact(PictureSet(())))
    trajectory = Trajectory(START, (FOUND, SEEN, *steps), end)
    assert attribute(trajectory, PictureSet((ANA[0],))).misses == {ANA[0]: miss}
