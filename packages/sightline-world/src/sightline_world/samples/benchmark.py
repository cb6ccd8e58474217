"""A small benchmark over the built-in samples, with tasks of all five kinds."""

from __future__ import annotations

from collections.abc import Iterator

from sightline.types import Annotation, Benchmark, Corpus, Group, GroupKind, Json, Picture, Rights
from sightline_world.samples.choose_tasks import choose_tasks
from sightline_world.samples.tasks import answer_tasks, describe_tasks, rank_tasks, select_tasks
from sightline_world.samples.truth import Samples, SampleScene

_MIMES = {
    "JPEG": "image/jpeg",
    "PNG": "image/png",
    "WEBP": "image/webp",
    "GIF": "image/gif",
    "BMP": "image/bmp",
    "TIFF": "image/tiff",
}
_METRICS = ("ndcg@10", "ap", "rr", "success@5", "f1", "em", "answer", "accuracy", "rouge-l")
_RIGHTS = Rights(license="Apache-2.0", source="sightline.samples")


def sample_benchmark(samples: Samples) -> Benchmark:
    """Tasks made from the truth about the samples; one whose subject doesn't occur in a small set is left out."""
    makers = (rank_tasks, select_tasks, answer_tasks, choose_tasks, describe_tasks)
    posed = [pair for maker in makers for pair in maker(samples)]
    return Benchmark(
        name="samples",
        corpus=sample_corpus(samples),
        tasks={task.id: task for task, _ in posed},
        truth={task.id: truth for task, truth in posed},
        metrics=_METRICS,
        card={
            "description": "Pictures drawn in code and tasks made from what was drawn: for a first look and for tests.",
            "languages": ["en", "zh"],
            "license": "Apache-2.0",
        },
        annotations=tuple(_annotation(scene) for scene in samples.scenes),
    )


def sample_corpus(samples: Samples) -> Corpus:
    """The samples as a corpus: what their files say, and groups by owner, event (hidden), burst and duplicate."""
    pictures = {scene.id: _picture(samples, scene) for scene in samples.scenes}
    return Corpus("samples", pictures, tuple(_groups(samples)))


def _picture(samples: Samples, scene: SampleScene) -> Picture:
    extra: dict[str, Json] = {"lens": scene.lens, "title": scene.title, "rating": scene.rating}
    if scene.keywords:
        extra["keywords"] = list(scene.keywords)
    return Picture(
        id=scene.id,
        uri=(samples.folder.resolve() / scene.id).as_uri(),
        sha256=scene.sha256,
        width=scene.width,
        height=scene.height,
        mime=_MIMES[scene.format],
        taken_at=scene.taken_at,
        lat=scene.lat,
        lon=scene.lon,
        altitude=scene.altitude,
        device=scene.device,
        rights=_RIGHTS,
        extra={name: value for name, value in extra.items() if value is not None},
    )


def _groups(samples: Samples) -> Iterator[Group]:
    members: dict[tuple[GroupKind, str], list[str]] = {}
    for scene in samples.scenes:
        members.setdefault(("owner", scene.owner), []).append(scene.id)
        if scene.event is not None:
            members.setdefault(("event", scene.event), []).append(scene.id)
        if scene.burst:
            members.setdefault(("burst", f"burst of {scene.burst[0]}"), []).append(scene.id)
        if scene.duplicate_of is not None:
            key: tuple[GroupKind, str] = ("duplicate", f"copies of {scene.duplicate_of}")
            members.setdefault(key, [scene.duplicate_of]).append(scene.id)
    for (kind, name), pictures in sorted(members.items()):
        yield Group(name, kind, tuple(pictures), hidden=kind == "event")


def _annotation(scene: SampleScene) -> Annotation:
    return Annotation(
        scene.id,
        summary=scene.caption,
        facets={"place": scene.place, "light": scene.light},
        tags=tuple(dict.fromkeys(word for thing in scene.objects for word in (thing.kind, thing.colour))),
        by="sample truth",
    )
