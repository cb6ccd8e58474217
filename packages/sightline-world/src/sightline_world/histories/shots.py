"""From an event to its pictures: when and where each was taken, who and what it shows, and which were copied later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from random import Random

from sightline_world.draw import KINDS, PLACES, Camera, PersonWish, ScenePlan, SignWish, ThingWish
from sightline_world.draw.kinds import HOLDS, RIDERS
from sightline_world.draw.plan import POSES, Pose
from sightline_world.histories.events import EventStage
from sightline_world.histories.frames import (
    ANY_TIME,
    EARLY,
    LATE,
    PAUSE,
    Batch,
    Frame,
    Moment,
    clock,
    make_copy,
    make_frame,
    spaced,
    visit_to,
    visits_on,
)
from sightline_world.histories.towns import light_at
from sightline_world.histories.years import HistoryPlan, Outing
from sightline_world.scene import HAIR, HEADGEAR, SCENE_COLOURS, SCENE_SIZES, Relation
from sightline_world.scene_plans import random_camera, sign_styles, suits
from sightline_world.sign_words import sign_words
from sightline_world.truth import Belonging, Friend, Team

_MOST_THINGS, _MOST_PEOPLE = 7, 4
# Of these more than two would fill the picture.
_BULKY = frozenset(
    {"car", "bus", "truck", "boat", "house", "tree", "horse", "cow", "tent", "umbrella", "bench", "hot-air balloon"}
)
_PUBLIC = ("street", "market", "station", "harbour", "beach", "library")
_MOVING = ("ball", "dog", "boat", "kite", "car", "bicycle", "horse", "duck", "sled", "motorbike")
_BETWEEN_STAGES = (
    EventStage("kitchen", (8.0, 21.0), ("mug", "bowl", "apple", "bottle", "book", "clock")),
    EventStage("street", (8.0, 20.0), ("car", "mailbox", "bicycle", "bird")),
    EventStage("garden", (9.0, 20.0), ("tree", "bird", "bucket", "cat", "house")),
    EventStage("library", (10.0, 18.0), ("mug", "lamp", "clock", "vase")),
)


class Cast:
    """Collects the wishes of one picture; what can't be there is left out."""

    def __init__(self, place: str, light: str, rng: Random, taken: frozenset[tuple[str, str]]) -> None:
        self.place, self.light = place, light
        self.things: list[ThingWish] = []
        self.people: list[PersonWish] = []
        self.signs: list[SignWish] = []
        self.relations: list[Relation] = []
        self._rng, self._taken = rng, taken
        self._empty_handed: list[int] = []

    @property
    def has_ground(self) -> bool:
        return "ground" in PLACES[self.place].zones

    def add_friends(self, friends: Sequence[Friend], day: str) -> None:
        """Friends in the coats that they wear on that day."""
        for friend in friends:
            coat = Random(f"{day}/{friend.name}").choice(friend.coats)
            self._person(
                PersonWish(coat, friend.hair, friend.headgear, friend.headgear_colour, self._pose(), friend.name)
            )

    def add_strangers(self, count: int, circle: Sequence[Friend], coats: Sequence[str] = SCENE_COLOURS) -> None:
        """People whom nobody knows, so none who could be taken for a friend."""
        known = {(friend.hair, friend.headgear, friend.headgear_colour) for friend in circle}
        for _ in range(count):
            while True:
                headgear = self._rng.choice(HEADGEAR)
                looks = (
                    self._rng.choice(HAIR),
                    headgear,
                    self._rng.choice(SCENE_COLOURS) if headgear != "none" else None,
                )
                if looks not in known:
                    break
            self._person(PersonWish(self._rng.choice(coats), *looks, pose=self._pose()))

    def _person(self, wish: PersonWish) -> None:
        if self.has_ground and len(self.people) < _MOST_PEOPLE:
            self._empty_handed.append(len(self.people))
            self.people.append(wish)

    def _pose(self) -> Pose:
        return self._rng.choice(POSES[:5])

    def add_belonging(self, item: Belonging) -> bool:
        """Put it where it can be: in someone's hand, by itself, or on a bench; say whether that was possible."""
        if item.kind in PLACES[self.place].scenery_kinds or len(self.things) >= _MOST_THINGS:
            return False
        by_itself = suits(item.kind, self.place, self.light)
        wish = ThingWish(item.kind, item.colour, item.size, item.name)
        if item.kind in HOLDS and self._empty_handed and (not by_itself or self._rng.random() < 0.4):
            return self._hand(wish)
        if by_itself:
            self.things.append(wish)
            return True
        if item.kind in RIDERS and suits("bench", self.place, self.light):
            self.relations.append(Relation(f"t{len(self.things) + 1}", "on", f"t{len(self.things)}"))
            self.things += [ThingWish("bench", self._rng.choice(KINDS["bench"].colours)), wish]
            return True
        return False

    def _hand(self, wish: ThingWish) -> bool:
        holder = self._empty_handed.pop(self._rng.randrange(len(self._empty_handed)))
        self.relations.append(Relation(f"p{holder}", "holding", f"t{len(self.things)}"))
        self.things.append(wish)
        return True

    def add_things(self, kinds: Sequence[str], groups: int) -> None:
        """Groups of things that belong to nobody; none looks like one of the owner's."""
        suitable = [kind for kind in kinds if suits(kind, self.place, self.light)]
        for kind in self._rng.sample(suitable, min(groups, len(suitable))):
            colours = [colour for colour in KINDS[kind].colours if (kind, colour) not in self._taken]
            room = _MOST_THINGS - len(self.things)
            if not colours or room < 1:
                continue
            count = min(room, self._rng.choice((1, 1, 2) if kind in _BULKY else (1, 1, 1, 2, 2, 3, 4)))
            wish = ThingWish(kind, self._rng.choice(colours), self._rng.choice(SCENE_SIZES))
            self.things += [wish] * count

    def add_sign(self, words: str, sizes: Sequence[str] = ("medium", "large")) -> None:
        style = self._rng.choice(sign_styles(self.place))
        self.signs.append(SignWish(words, style, self._rng.choice(sizes), self._rng.random() < 0.5))

    def add_match(self, team: Team, other: str, circle: Sequence[Friend]) -> None:
        """Players and supporters in the colours of the two sides."""
        self.add_strangers(self._rng.randint(1, 3), circle, (team.colour, team.colour, other))
        colours = [colour for colour in ("white", "orange", "yellow") if ("ball", colour) not in self._taken]
        if self._rng.random() < 0.7:
            self.things.append(ThingWish("ball", self._rng.choice(colours)))


def batches(plan: HistoryPlan) -> Iterator[Batch]:
    """All pictures of a life, event by event; what lies between the events comes last."""
    for outing in plan.outings:
        yield _Event(plan, outing).batch()
    if plan.between:
        yield _between(plan)


class _Event:
    """Takes the pictures of one event."""

    def __init__(self, plan: HistoryPlan, outing: Outing) -> None:
        self.plan, self.outing, self.event = plan, outing, outing.event
        self.tag = f"{plan.seed}/{outing.event.id}"
        self.rng = Random(f"{self.tag}/shots")
        life = plan.life
        self.friends = [friend for friend in life.friends if friend.name in self.event.friends]
        self.belongings = [each for each in life.belongings if each.name in self.event.belongings]
        self.taken = frozenset((each.kind, each.colour) for each in life.belongings)
        self.shown: Counter[str] = Counter()
        self.score = [0, 0]
        self.other = self.rng.choice([colour for colour in SCENE_COLOURS if colour != life.team.colour])
        self.candles = self.rng.randint(3, 9)
        self.camera = plan.kit.camera if self.rng.random() < 0.5 else None

    def batch(self) -> Batch:
        extra = self._burst_lengths(self.event.pictures)
        moments = self._moments(self.event.pictures - sum(extra))
        in_bursts = dict(zip(sorted(self.rng.sample(range(len(moments)), len(extra))), extra, strict=True))
        signed = self._signed(moments)
        frames: list[Frame] = []
        for number, moment in enumerate(moments):
            plan = self._plan(number, moment, len(moments), number in signed)
            frames += self._frames(moment, plan, len(frames), in_bursts.get(number, 0))
        copies = self._copies([frame for frame in frames if not frame.burst])
        return Batch(self.plan.life.owner, self.event.id, (*frames, *copies))

    def _burst_lengths(self, count: int) -> list[int]:
        """Further frames of each burst: about every tenth picture begins one."""
        return [self.rng.randint(1, 3) for _ in range(count // 12 + (self.rng.random() < 0.3 and count > 7))]

    def _signed(self, moments: Sequence[Moment]) -> frozenset[int]:
        """Pictures that surely have a sign which says where one is, or whose day it is."""
        outside = [n for n, moment in enumerate(moments) if not PLACES[moment.visit.stage.place].indoor]
        count = 2 if self.outing.occasion.away or self.outing.occasion.words != "town" else 1
        return frozenset(self.rng.sample(outside, min(count, len(outside))))

    def _moments(self, count: int) -> list[Moment]:
        """So many times on the days of the event, in order, each in one of that day's places."""
        days = (self.event.last - self.event.first).days + 1
        found: list[Moment] = []
        for number in range(days):
            day = self.event.first + timedelta(days=number)
            share = count * (number + 1) // days - count * number // days
            visits = visits_on(self.outing.occasion, self.outing.town, self.outing.home, self.rng)
            # First thing in the morning and last thing at night: so even a day with two pictures spans all of it.
            turns = [visits[0], visits[-1], *visits[1:-1]]
            weights = [visit.stage.weight for visit in turns]
            chosen = [*turns, *self.rng.choices(turns, weights, k=max(0, share - len(turns)))][:share]
            spans = (EARLY, LATE, *([ANY_TIME] * share))
            found += [
                Moment(clock(self.outing.town, day, visit.stage, self.rng, span), visit)
                for visit, span in zip(chosen, spans, strict=False)
            ]
        return spaced(found)

    def _plan(self, number: int, moment: Moment, count: int, signed: bool) -> ScenePlan:
        rng = Random(f"{self.tag}/{number}")
        stage, life = moment.visit.stage, self.plan.life
        cast = Cast(stage.place, light_at(self.outing.town, moment.when, self.plan.seed), rng, self.taken)
        self._add_people(cast, moment, rng)
        self._add_belongings(cast, 2 * number >= count, rng)
        if stage.place == "stadium":
            cast.add_match(life.team, self.other, life.friends)
        cast.add_things(stage.things, rng.choice((0, 1, 1, 2, 2, 3) if cast.people else (2, 3, 3)))
        if signed:
            cast.add_sign(self._words())
        elif rng.random() < 0.15:
            cast.add_sign(sign_words(rng), ("small", "medium", "large"))
        return ScenePlan(
            place=cast.place,
            light=cast.light,
            variant=moment.visit.variant,
            things=tuple(cast.things),
            people=tuple(cast.people),
            signs=tuple(cast.signs),
            relations=tuple(cast.relations),
            size=self.plan.size,
            camera=_camera(rng, 0.2 if signed else rng.choice((0.1, 0.3, 0.5))),
            seed=f"{self.tag}/{number}",
            score=self._scored(rng) if stage.place == "stadium" else None,
            candles=self.candles,
        )

    def _add_people(self, cast: Cast, moment: Moment, rng: Random) -> None:
        """Some of the friends who are there; now and then one of them takes a picture of the owner."""
        life, day = self.plan.life, f"{self.tag}/{moment.when.date()}"
        there = rng.sample(self.friends, min(len(self.friends), rng.choice((0, 1, 1, 2, 2, 3))))
        cast.add_friends(there, day)
        if rng.random() < 0.12:
            cast.add_friends(life.friends[:1], day)
        if cast.place in _PUBLIC and rng.random() < 0.4:
            cast.add_strangers(rng.randint(1, 2), life.friends)

    def _add_belongings(self, cast: Cast, late: bool, rng: Random) -> None:
        """The belongings that were shown least; what is bought here only later in the day."""
        there = [item for item in self.belongings if late or item.bought != self.event.id]
        rng.shuffle(there)
        there.sort(key=lambda item: self.shown[item.name])
        wanted = rng.choice((0, 1, 1, 1, 2))
        for item in there:
            if wanted == 0:
                break
            if cast.add_belonging(item):
                self.shown[item.name] += 1
                wanted -= 1

    def _words(self) -> str:
        words = {"town": self.event.town, "team": self.plan.life.team.name, "band": self.plan.band}
        return words[self.outing.occasion.words].upper()

    def _scored(self, rng: Random) -> tuple[int, int]:
        if rng.random() < 0.5:
            side = rng.choice((0, 0, 1))
            self.score[side] = min(self.score[side] + 1, 9)  # The board has one digit a side.
        return self.score[0], self.score[1]

    def _frames(self, moment: Moment, plan: ScenePlan, at: int, further: int) -> list[Frame]:
        rng = Random(f"{self.tag}/frame/{at}")
        device = self.plan.kit.phone_on(moment.when.date())
        if self.camera is not None and rng.random() < 0.5:
            device = self.camera
        number = self.outing.number + at
        if further == 0:
            return [make_frame(self.plan, moment, plan, device, number, rng)]
        moving = [thing.kind for thing in plan.things if thing.kind in _MOVING]
        step = rng.choice((-0.05, 0.05))
        plan = replace(plan, moving=moving[0] if moving else None, step=step)
        first = make_frame(self.plan, moment, plan, device, number, rng)
        frames = [first]
        for turn in range(1, further + 1):
            later = replace(moment, when=moment.when + timedelta(seconds=turn))
            frame = make_frame(self.plan, later, replace(plan, moment=turn), device, number + turn, rng)
            taken_at = frame.metadata.taken_at
            frames.append(
                replace(frame, metadata=replace(first.metadata, taken_at=taken_at), orientation=first.orientation)
            )
        ids = tuple(frame.id for frame in frames)
        return [replace(frame, burst=ids) for frame in frames]

    def _copies(self, sources: Sequence[Frame]) -> list[Frame]:
        chosen = self.rng.sample(sources, min(self.outing.copies, len(sources)))
        return [make_copy(source, self.outing.first_copy + number) for number, source in enumerate(chosen)]


def _camera(rng: Random, difficulty: float) -> Camera:
    """Nobody stands at the same spot twice, so the frame is never quite the whole view."""
    zoom = round(1 + rng.uniform(0.02, 0.2), 3)
    return replace(random_camera(rng, difficulty), zoom=zoom)


def _between(plan: HistoryPlan) -> Batch:
    """Pictures of nothing in particular, taken at home."""
    rng = Random(f"{plan.seed}/between")
    life = plan.life
    taken = frozenset((each.kind, each.colour) for each in life.belongings)
    frames: dict[str, Frame] = {}
    for number, day in enumerate(plan.between):
        home = plan.home_on(day)
        town, stage = plan.town(home.town), rng.choice(_BETWEEN_STAGES)
        moment = Moment(clock(town, day, stage, rng, ANY_TIME), visit_to(stage, town, home, rng))
        cast = Cast(stage.place, light_at(town, moment.when, plan.seed), rng, taken)
        if rng.random() < 0.4:
            _add_pet(cast, life.belongings, day)
        cast.add_things(stage.things, rng.choice((1, 2, 2)))
        scene = ScenePlan(
            place=cast.place,
            light=cast.light,
            variant=moment.visit.variant,
            things=tuple(cast.things),
            size=plan.size,
            camera=_camera(rng, rng.choice((0.3, 0.6))),
            seed=f"{plan.seed}/between/{number}",
        )
        total = sum(outing.event.pictures for outing in plan.outings)
        frame = make_frame(plan, moment, scene, plan.kit.phone_on(day), total + number, rng)
        while frame.id in frames:
            moment = replace(moment, when=moment.when + PAUSE)
            frame = make_frame(plan, moment, scene, plan.kit.phone_on(day), total + number, rng)
        frames[frame.id] = frame
    return Batch(life.owner, None, tuple(frames.values()))


def _add_pet(cast: Cast, belongings: Sequence[Belonging], day: date) -> None:
    for item in belongings:
        if item.kind in ("cat", "dog", "mug") and item.since <= day:
            cast.add_belonging(item)
            return
