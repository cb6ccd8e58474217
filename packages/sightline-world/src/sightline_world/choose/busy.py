"""A scene with something everywhere: for questions about the picture as a whole."""

from __future__ import annotations

from dataclasses import dataclass

from sightline_world.choose.question import Wanted
from sightline_world.choose.setting import Prop, Setting, ground_kinds, props, setting
from sightline_world.draw.items import habitat_in
from sightline_world.draw.places import PLACES
from sightline_world.draw.plan import ScenePlan, ThingWish
from sightline_world.scene import SCENE_KINDS
from sightline_world.scenes import suits

# Colours that show in any sky; all that flies may have them.
_BRIGHT = ("red", "orange", "yellow", "pink", "purple")


@dataclass(frozen=True, slots=True)
class Altered:
    """A part of a scene, enlarged or softened: `part` in shares of the picture, `blur` in thousandths of its height."""

    plan: ScenePlan
    part: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)
    blur: float = 0.0


def busy_plan(wanted: Wanted, count: int) -> ScenePlan:
    """Things side by side on the ground and one in the sky, each at its spot, in a place by lot."""
    rng, here = wanted.rng, setting(wanted)
    count = min(count, len(ground_kinds(here, 0.42)))
    step = 1 / count
    wishes = [
        prop.at((place + 0.5) * step + rng.uniform(-0.1, 0.1) * step, rng.uniform(0.1, 0.9), rng.getrandbits(6))
        for place, prop in enumerate(props(rng, here, count, widest=0.42))
    ]
    return here.plan((*wishes, *_in_the_sky(wanted, here)))


def _in_the_sky(wanted: Wanted, here: Setting) -> list[ThingWish]:
    """Something that flies, where the place has a sky."""
    rng, place = wanted.rng, PLACES[here.place]
    kinds = [k for k in SCENE_KINDS if habitat_in(k, place) == "sky" and suits(k, here.place, here.light)]
    if not kinds:
        return []
    prop = Prop(rng.choice(kinds), rng.choice(_BRIGHT))
    return [prop.at(rng.uniform(0.1, 0.9), rng.random(), rng.getrandbits(6))]
