"""Pictures on pages, and pictures from which a question starts: plans, drawn when they are asked for."""

from __future__ import annotations

from random import Random

from sightline_world.draw import PLACES, PersonWish, ScenePlan, SignWish, ThingWish
from sightline_world.draw.kinds import KINDS
from sightline_world.draw.plan import POSES
from sightline_world.scene import HAIR, SCENE_COLOURS
from sightline_world.scene_plans import sign_styles, suits
from sightline_world.web.facts import Entity

SIZE = (480, 360)
_PLACES = {
    "coast": ("harbour", "beach", "harbour"),
    "lake": ("lake", "street"),
    "mountain": ("snow", "lake", "street"),
    "desert": ("desert", "market"),
    "inland": ("street", "market", "station"),
}
_OUTDOORS = ("street", "garden", "playground", "beach", "forest", "harbour")
_BESIDE = ("bench", "bird", "bicycle", "dog", "umbrella", "car", "bucket", "suitcase", "ball")


def region_picture(region: Entity, flag: str) -> ScenePlan:
    """Two or three flags of the region's colour, and none of another."""
    rng = Random(f"picture/{region.id}")
    return _plan(rng, rng.choice(("garden", "snow", "desert", "beach")), [ThingWish("flag", flag)] * rng.choice((2, 3)))


def town_picture(town: Entity, mailbox: str) -> ScenePlan:
    """The town's sign, and one of its mailboxes."""
    rng = Random(f"picture/{town.id}")
    place = rng.choice(_PLACES[town.shape])
    return _plan(rng, place, [ThingWish("mailbox", mailbox)], signs=(_sign(rng, place, town.name),))


def portrait(person: Entity, seed: str = "") -> ScenePlan:
    """The person alone, with the looks that nobody else has."""
    rng = Random(f"picture/{person.id}{seed}")
    return _plan(rng, rng.choice(_OUTDOORS), _beside(rng) if seed else [], people=(wearing(person, rng),))


def team_picture(team: Entity, seed: str = "") -> ScenePlan:
    """Players in the team's colours, and on the team's own page its banner too."""
    rng = Random(f"picture/{team.id}{seed}")
    kit = team.colours
    assert kit is not None
    people = tuple(
        PersonWish(kit.shirt, hair, kit.headgear, kit.headgear_colour, pose)
        for hair, pose in zip(rng.sample(HAIR, 3), rng.sample(POSES[:5], 3), strict=True)
    )
    signs = () if seed else (SignWish(team.short.upper(), "banner", "large", rng.random() < 0.5),)
    return _plan(rng, "stadium", [ThingWish("ball", "white")], people, signs, light="day")


def sign_picture(entity: Entity, seed: str) -> ScenePlan:
    """A sign with the name of a town or a team, among other things."""
    rng = Random(f"picture/{entity.id}{seed}")
    place = "stadium" if entity.kind == "team" else rng.choice(_PLACES[entity.shape])
    return _plan(rng, place, _beside(rng), signs=(_sign(rng, place, entity.short),))


def thing_picture(entity: Entity, colour: str) -> ScenePlan:
    """Things of the entity's shape in a colour: an emblem, a product, animals of a breed."""
    rng = Random(f"picture/{entity.id}")
    places = [place for place in PLACES if suits(entity.shape, place, "day")]
    count = 1 if entity.kind == "product" else 2
    return _plan(rng, rng.choice(places), [ThingWish(entity.shape, colour)] * count)


def painting_picture(painting: Entity, town: Entity) -> ScenePlan:
    """A sign with the town's name in a landscape; the text does not say which town it is."""
    rng = Random(f"picture/{painting.id}")
    place = rng.choice(_PLACES[town.shape])
    return _plan(rng, place, _beside(rng), signs=(_sign(rng, place, town.name),))


def shape_colours(shape: str) -> tuple[str, ...]:
    """The colours that things of that kind come in."""
    return KINDS[shape].colours if shape in KINDS else SCENE_COLOURS


def wearing(person: Entity, rng: Random) -> PersonWish:
    """The person as a wish."""
    looks = person.looks
    assert looks is not None
    return PersonWish(looks.coat, looks.hair, looks.headgear, looks.headgear_colour, rng.choice(POSES[:5]))


def _sign(rng: Random, place: str, words: str) -> SignWish:
    return SignWish(words.upper(), rng.choice(sign_styles(place)), "large", rng.random() < 0.5)


def _beside(rng: Random) -> list[ThingWish]:
    """One or two things that have nothing to do with what is asked."""
    kinds = rng.sample(_BESIDE, rng.choice((1, 2)))
    return [ThingWish(kind, rng.choice(KINDS[kind].colours)) for kind in kinds]


def _plan(
    rng: Random,
    place: str,
    things: list[ThingWish],
    people: tuple[PersonWish, ...] = (),
    signs: tuple[SignWish, ...] = (),
    light: str = "",
) -> ScenePlan:
    light = light or rng.choice(("day", "day", "sunset"))
    here = tuple(wish for wish in things if suits(wish.kind, place, light))
    variant = rng.randrange(PLACES[place].variants)
    return ScenePlan(place, light, variant, here, people, signs, size=SIZE, seed=f"web/{rng.getrandbits(48)}")
