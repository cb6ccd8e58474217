"""Tasks as an agent or a chat model is asked them: as `run.questions` puts them, with pictures that have names."""

from __future__ import annotations

from sightline.agent.state import View
from sightline.agent.system_options import ChatOptions
from sightline.run.questions import Ablation, Questions, Shown
from sightline.run.systems.base import Setting
from sightline.types import Failure, PictureRef, Task


def questions_of(options: ChatOptions, setting: Setting) -> Questions:
    """How the tasks of a benchmark are put."""
    bench = setting.benchmark
    strangers = dict.fromkeys(ref for task in bench.tasks.values() for ref in task.pictures)
    return Questions(
        pictures=bench.corpus.pictures,
        base=setting.base,
        language=options.language,
        ablation=Ablation(
            options.no_text, options.no_image, options.one_image, options.no_options, options.shuffle_images
        ),
        seed=setting.seed,
        strangers=tuple(strangers) if options.shuffle_images else (),
    )


def content_of(questions: Questions, task: Task) -> tuple[str | View, ...] | Failure:
    """The prompt and its options, pictures by their names."""
    content = questions.content(task)
    if isinstance(content, Failure):
        return content
    return tuple(_view(part) if isinstance(part, Shown) else part for part in content)


def region_name(ref: PictureRef) -> str:
    """What a model calls a region: `id#left,top,right,bottom`."""
    box = ref.region
    return ref.id if box is None else f"{ref.id}#{box.left:g},{box.top:g},{box.right:g},{box.bottom:g}"


def _view(shown: Shown) -> View:
    return View(region_name(shown.ref), shown.part, shown.ref.id, shown.ref.region)
