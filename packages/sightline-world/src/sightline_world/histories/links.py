"""What links events, found in the truth of the pictures themselves: so every link can be seen."""

from __future__ import annotations

from dataclasses import dataclass, field

from sightline_world.scene import Sign
from sightline_world.truth import Life, Link, LinkKind, ShotTruth

LEGIBLE_PX, LEGIBLE_HIDDEN = 7.0, 0.1
"""A sign can be read when its letters are so high and at most that share of it is hidden."""


@dataclass(slots=True)
class Links:
    """Collects, picture by picture, who and what was seen at which events of a life."""

    life: Life
    _seen: dict[tuple[LinkKind, str], dict[str, list[str]]] = field(default_factory=dict)

    def add(self, shot: ShotTruth) -> None:
        """Take note of one picture; copies and pictures between events link nothing."""
        if shot.event is None or shot.duplicate_of is not None:
            return
        for key in self._keys(shot):
            self._seen.setdefault(key, {}).setdefault(shot.event, []).append(shot.id)

    def _keys(self, shot: ShotTruth) -> list[tuple[LinkKind, str]]:
        met = {friend.name for friend in self.life.friends if friend.met is not None}
        bought = {item.name for item in self.life.belongings if item.bought is not None}
        towns = {town.name.upper(): town.name for town in self.life.towns}
        keys: list[tuple[LinkKind, str]] = [("met" if name in met else "friend", name) for name in shot.people]
        keys += [("bought" if name in bought else "belonging", name) for name in shot.belongings]
        for words in dict.fromkeys(sign.words for sign in shot.graph.signs if is_legible(sign)):
            if words in towns:
                keys.append(("town", towns[words]))
            elif words == self.life.team.name:
                keys.append(("team", words))
        return keys

    def all(self) -> tuple[Link, ...]:
        """Whatever was seen at two events or more; a purchase or a meeting only where its own picture is among them."""
        first = {friend.name: friend.met for friend in self.life.friends}
        first |= {item.name: item.bought for item in self.life.belongings}
        return tuple(
            Link(kind, via, tuple(events), tuple(id_ for ids in events.values() for id_ in ids))
            for (kind, via), events in sorted(self._seen.items())
            if len(events) > 1 and (kind not in ("met", "bought") or first[via] in events)
        )


def is_legible(sign: Sign) -> bool:
    """Whether its words can be read in the picture at its full size."""
    return sign.letter_px >= LEGIBLE_PX and sign.hidden <= LEGIBLE_HIDDEN
