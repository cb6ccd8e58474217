"""Sequential: who is fastest or slowest over some frames, who moves at all, and which way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from sightline.types import Box
from sightline_world.choose.question import ChoiceQuestion, DrawnShot, QuestionBrief, Remark, numbered
from sightline_world.choose.setting import Prop, Setting, props, setting, shoot
from sightline_world.draw.plan import ThingWish

_WIDEST = 0.26
_LEFT, _RIGHT = 0.08, 0.92
# While one passes before another, more of that may be hidden.
_PASSING = 0.55
_WAYS = {"to the left": (-1, 0), "to the right": (1, 0), "towards the camera": (0, 1), "away from the camera": (0, -1)}


def speed_comparison(wanted: QuestionBrief) -> ChoiceQuestion:
    """Four things go across the picture, each at its own speed: which is the fastest, or the slowest?"""
    rng, here = wanted.rng, setting(wanted)
    movers = props(rng, here, 4, widest=_WIDEST, alike=rng.random() < wanted.difficulty / 2)
    right, fastest = rng.randrange(4), rng.random() < 0.5
    speeds = _speeds(wanted, right, fastest)
    lanes = wanted.lot.sample((0.0, 0.34, 0.67, 1.0), 4)
    tracks = [_track(wanted.lot, speed) for speed in speeds]
    count = wanted.count(2, 4)
    frames = [
        shoot(
            here.plan(
                mover.at(start + (end - start) * moment / (count - 1), lane, _facing(end - start))
                for mover, (start, end), lane in zip(movers, tracks, lanes, strict=True)
            ),
            hidden=_PASSING,
        )
        for moment in range(count)
    ]
    word, names = "fastest" if fastest else "slowest", [mover.the for mover in movers]
    ways = [f"{name} by {_percent(_shift(frames, place))}" for place, name in enumerate(names)]
    extreme = "farthest" if fastest else "least"
    return ChoiceQuestion(
        prompt=(
            "These frames were taken by a camera that did not move, at equal intervals.\n",
            *numbered("Frame", frames),
            f"Which of these moves {word} across the picture?",
        ),
        options=tuple(names),
        right=right,
        summary=f"{count} frames of one scene are to be compared, to find out which of four things moves {word}.",
        regions=Remark(
            f"The four are {', '.join(names[:3])} and {names[3]}; in the first and in the last frame they are here.",
            tuple((frame, frame.box(f"t{place}")) for place in range(4) for frame in (frames[0], frames[-1])),
        ),
        compared=Remark(
            f"From the first frame to the last, as shares of the picture's width: {'; '.join(ways)}.",
            tuple((frame, frame.box(f"t{right}")) for frame in frames),
        ),
        conclusion=f"In the same time {names[right]} goes {extreme}, so it is the {word}.",
    )


def _speeds(wanted: QuestionBrief, right: int, fastest: bool) -> list[float]:
    """How far each goes, in widths of the ground; the right one is clearly ahead of the next, or behind it."""
    rng, ratio = wanted.lot, wanted.between(0.45, 0.78)
    top = rng.uniform(0.52, 0.82)
    bottom = top * ratio * rng.uniform(0.3, 0.8)
    low, high = (0.2 * top * ratio, top * ratio) if fastest else (bottom / ratio, top)
    speeds = [rng.uniform(low, high) for _ in range(4)]
    # One comes as close as the difficulty allows.
    speeds[(right + rng.randint(1, 3)) % 4] = high if fastest else low
    speeds[right] = top if fastest else bottom
    return speeds


def _track(rng: Random, length: float) -> tuple[float, float]:
    """Start and end of a way of that length, to either side."""
    start = rng.uniform(_LEFT, _RIGHT - length)
    return (start, start + length) if rng.random() < 0.5 else (start + length, start)


def _facing(shift: float) -> int:
    """The look of something that faces the way it goes."""
    return 1 if shift < 0 else 0


def _shift(frames: Sequence[DrawnShot], place: int) -> float:
    first, last = frames[0].box(f"t{place}"), frames[-1].box(f"t{place}")
    return _middle(last) - _middle(first)


def _middle(box: Box) -> float:
    return (box.left + box.right) / 2


def _percent(share: float) -> str:
    return f"{abs(100 * share):.0f} % to the {'left' if share < 0 else 'right'}"


def motion_detection(wanted: QuestionBrief) -> ChoiceQuestion:
    """Something moves over some frames: which thing, or which way?"""
    return _which_way(wanted) if wanted.rng.random() < 0.5 else _which_thing(wanted)


def _which_thing(wanted: QuestionBrief) -> ChoiceQuestion:
    rng, here = wanted.rng, setting(wanted)
    things = props(rng, here, 4, widest=_WIDEST, alike=rng.random() < wanted.difficulty / 2)
    right, way = rng.randrange(4), wanted.lot.choice(list(_WAYS))
    frames = _frames(wanted, here, things, {right: way}, wanted.between(0.30, 0.10))
    names = [thing.the for thing in things]
    still = ", ".join(name for place, name in enumerate(names) if place != right)
    return ChoiceQuestion(
        prompt=(
            "These frames show the same place, one moment after another.\n",
            *numbered("Frame", frames),
            "Only one of these things moves. Which one?",
        ),
        options=tuple(names),
        right=right,
        summary=f"{len(frames)} frames of one place are to be compared, to find the one thing that moves.",
        regions=Remark(
            f"In the first frame {', '.join(names[:3])} and {names[3]} are here.",
            tuple((frames[0], frames[0].box(f"t{place}")) for place in range(4)),
        ),
        compared=Remark(
            f"In the last frame {still} are where they were, while {names[right]} has gone {way}.",
            tuple((frame, frame.box(f"t{right}")) for frame in frames),
        ),
        conclusion=f"The thing that moves is {names[right]}.",
    )


def _which_way(wanted: QuestionBrief) -> ChoiceQuestion:
    rng, here = wanted.rng, setting(wanted)
    things = props(rng, here, wanted.count(2, 4), widest=_WIDEST)
    ways = list(_WAYS)
    right = rng.randrange(4)
    moves = {0: ways[right]}
    if wanted.lot.random() < wanted.difficulty:  # something else moves, another way
        moves[1] = wanted.lot.choice([way for way in ways if way != ways[right]])
    frames = _frames(wanted, here, things, moves, wanted.between(0.34, 0.16))
    name = things[0].the
    first, last = frames[0].box("t0"), frames[-1].box("t0")
    grown = (last.bottom - last.top) / (first.bottom - first.top)
    height = "keeps its height" if abs(grown - 1) < 0.05 else f"has {grown:.2f} times its height"
    return ChoiceQuestion(
        prompt=(
            "These frames show the same place, one moment after another.\n",
            *numbered("Frame", frames),
            f"Which way does {name} move?",
        ),
        options=tuple(ways),
        right=right,
        summary=f"{len(frames)} frames of one place are to be compared, to see which way {name} moves.",
        regions=Remark(f"In the first frame {name} is here.", ((frames[0], first),)),
        compared=Remark(
            f"From the first frame to the last its middle goes {_percent(_shift(frames, 0))}, as a share of "
            f"the picture's width, and it {height}.",
            tuple((frame, frame.box("t0")) for frame in frames),
        ),
        conclusion=f"So {name} moves {ways[right]}.",
    )


def _frames(
    wanted: QuestionBrief, here: Setting, things: Sequence[Prop], moves: dict[int, str], step: float
) -> list[DrawnShot]:
    """Frames in which some things move by `step` widths in all (or as far through the depth); hands may shake."""
    rng, count = wanted.lot, wanted.count(2, 4)
    columns = rng.sample([(place + 0.5) / len(things) for place in range(len(things))], len(things))
    spots = [(_LEFT + (_RIGHT - _LEFT) * column, rng.uniform(0.15, 0.85)) for column in columns]
    starts, looks = dict(enumerate(spots)), [rng.getrandbits(4) * 2 + rng.getrandbits(1) for _ in things]
    deltas: dict[int, tuple[float, float]] = {}
    for place, way in moves.items():
        across, deep = _WAYS[way]
        du, dv = across * step, deep * min(0.9, 2.4 * step)
        u, v = starts[place]
        deltas[place] = (du, dv)
        starts[place] = (_inside(u, du, _LEFT, _RIGHT), _inside(v, dv, 0.0, 1.0))
        if across:
            looks[place] = looks[place] // 2 * 2 + _facing(across)
    shaking = rng.random() < wanted.difficulty
    frames = []
    for moment in range(count):
        share = moment / (count - 1)
        wishes: list[ThingWish] = []
        for place, thing in enumerate(things):
            (u, v), (right, near) = starts[place], deltas.get(place, (0.0, 0.0))
            wishes.append(thing.at(u + right * share, v + near * share, looks[place]))
        plan = here.plan(wishes)
        frames.append(shoot(replace(plan, moment=moment) if shaking else plan))
    return frames


def _inside(value: float, step: float, low: float, high: float) -> float:
    """The start of a way that stays between two bounds."""
    return min(high - max(0.0, step), max(low - min(0.0, step), value))
