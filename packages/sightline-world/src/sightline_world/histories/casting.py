"""What one picture of an event shows: people and belongings that were there, and what else one sees at the place."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from sightline_world.draw import KINDS, PLACES, PersonWish, SignWish, ThingWish
from sightline_world.draw.carrying import HOLDS, RIDERS
from sightline_world.draw.plan import POSES, Pose
from sightline_world.scene import HAIR, HEADGEAR, SCENE_COLOURS, SCENE_SIZES, Relation
from sightline_world.scenes import sign_styles, suits
from sightline_world.truth import Belonging, Friend, Team

_MOST_THINGS, _MOST_PEOPLE = 7, 4
# Of these more than two would fill the picture.
_BULKY = frozenset(
    {"car", "bus", "truck", "boat", "house", "tree", "horse", "cow", "tent", "umbrella", "bench", "hot-air balloon"}
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
