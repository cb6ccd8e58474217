"""Tasks that ask about one picture: `answer` and `describe`, made from the truth."""

from __future__ import annotations

from collections.abc import Iterator

from sightline.english import listed, number_word
from sightline.types import Answer, PictureRef, Step, Task, Trace, Traces
from sightline_world.draw import PLACES
from sightline_world.samples.looking import Posed, alone, middle, originals
from sightline_world.samples.occasions import OCCASIONS
from sightline_world.samples.scenes import Samples, Scene, Thing
from sightline_world.vocabulary import LIGHT_PHRASES, phrase

_COLOURS_ZH = {
    "red": "红色",
    "orange": "橙色",
    "yellow": "黄色",
    "green": "绿色",
    "blue": "蓝色",
    "purple": "紫色",
    "pink": "粉色",
    "white": "白色",
    "black": "黑色",
    "brown": "棕色",
}
_KINDS_ZH = {"boat": "船", "car": "汽车", "bicycle": "自行车", "dog": "狗", "mug": "杯子", "umbrella": "遮阳伞"}


def answer_tasks(samples: Samples) -> Iterator[Posed]:
    """A colour, a count, what a board says, and a town that takes more than looking."""
    asked = (_colour, _candles, _score, _town)
    for number, ask in enumerate(asked, 1):
        scenes = originals(samples, f"answer {number}")
        posed = next((found for scene in scenes if (found := ask(scene, f"answer-{number:02}"))), None)
        if posed is not None:
            yield posed


def _colour(scene: Scene, task_id: str) -> Posed | None:
    things = [thing for thing in scene.objects if thing.kind in _KINDS_ZH and alone(scene, thing.kind)]
    if not things:
        return None
    thing, shown = things[0], PictureRef(scene.id)
    task = Task(
        task_id,
        "answer",
        (shown, f"What colour is the {thing.kind}?"),
        labels={"category": ("attribute",), "needs": ("looking",)},
        translations={"zh": (shown, f"图中的{_KINDS_ZH[thing.kind]}是什么颜色？")},
    )
    step = Step("text-to-region", f"The {thing.kind} is here.", (PictureRef(scene.id, thing.box),))
    return task, Answer(thing.colour, translations={"zh": _COLOURS_ZH[thing.colour]}, steps=(step,))


def _candles(scene: Scene, task_id: str) -> Posed | None:
    if "candles" not in scene.details:
        return None
    shown, count = PictureRef(scene.id), scene.details["candles"]
    cake = next(thing for thing in scene.objects if thing.kind == "cake")
    task = Task(
        task_id,
        "answer",
        (shown, "How many candles are on the cake?"),
        labels={"category": ("counting",), "needs": ("looking",)},
        translations={"zh": (shown, "蛋糕上有几根蜡烛？")},
    )
    step = Step("text-to-region", "The candles stand on this cake.", (PictureRef(scene.id, cake.box),))
    return task, Answer(count, aliases=(number_word(int(count)),), tolerance=0.0, steps=(step,))


def _score(scene: Scene, task_id: str) -> Posed | None:
    if "score" not in scene.details:
        return None
    shown, score = PictureRef(scene.id), scene.details["score"]
    task = Task(
        task_id,
        "answer",
        (shown, "What score does the board show?"),
        labels={"category": ("reading",), "needs": ("looking",)},
        translations={"zh": (shown, "记分牌上的比分是多少？")},
    )
    return task, Answer(score, aliases=(score.replace(":", "-"), score.replace(":", " to ")))


def _town(scene: Scene, task_id: str) -> Posed | None:
    if scene.lat is None or scene.place not in ("lake", "harbour"):
        return None
    shown, town = PictureRef(scene.id), next(event.town for event in OCCASIONS if event.id == scene.event)
    task = Task(
        task_id,
        "answer",
        (shown, "Near which town was this picture taken?"),
        labels={"category": ("place",), "needs": ("metadata", "knowledge")},
        translations={"zh": (shown, "这张照片是在哪座城镇附近拍摄的？")},
    )
    steps = (
        Step("think", f"The picture was taken at {scene.lat:.3f}, {scene.lon:.3f}."),
        Step("search", f"The town nearest to that point is {town}."),
    )
    return task, Answer(town, steps=steps)


def describe_tasks(samples: Samples) -> Iterator[Posed]:
    """The two pictures with the most to tell, each with two reference traces."""
    rich = sorted(originals(samples, "describe"), key=lambda scene: -len(scene.objects))
    for number, scene in enumerate(rich[:2], 1):
        prompt = ("Think about what you see, then describe this picture: ", PictureRef(scene.id))
        labels = {"place": (scene.place,), "light": (scene.light,)}
        yield Task(f"describe-{number:02}", "describe", prompt, labels=labels), Traces(_traces(scene))


def _traces(scene: Scene) -> tuple[Trace, Trace]:
    things = [phrase(thing.kind, thing.colour, thing.count) for thing in scene.objects]
    where, when = PLACES[scene.place].phrase, LIGHT_PHRASES[scene.light][0]
    first = Trace(
        f"First the surroundings: we are {where}. The light says that it was taken {when}. "
        f"Then what stands out: {'; '.join(things)}. Nothing else needs to be named.",
        scene.caption,
        model="sample-reference-1",
    )
    spread = "; ".join(f"{words} {_side_of(thing)}" for words, thing in zip(things, scene.objects, strict=True))
    second = Trace(
        f"I go through the picture from side to side. I see {spread}. All of it is {where}, {when}.",
        f"The picture was taken {where} {when}. It shows {listed(things)}.",
        model="sample-reference-2",
    )
    return first, second


def _side_of(thing: Thing) -> str:
    at = middle(thing)
    return "on the left" if at < 1 / 3 else "on the right" if at > 2 / 3 else "in the middle"
