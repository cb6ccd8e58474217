"""Mined questions about single pictures: in words, and as a benchmark of `answer` tasks with their steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sightline import bench
from sightline.errors import StoppedError, UserError
from sightline.mine.assembling import QUESTIONS
from sightline.mine.chains import Chain, Hop
from sightline.types import Answer, Benchmark, Corpus, Json, Picture, PictureRef, Step, Task

_NEEDS = ("need_image_before_search", "need_image_during_search")
"""What ImageMining says of a question: every chain starts from the picture and leads through another."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the chain to its answer; reasons against it, if there are any."""

    id: str
    picture: str
    text: str
    chain: Chain
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mined:
    """What came of the starts: questions kept and refused, and how many starts had no chain."""

    questions: tuple[Question, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    "Calls that failed, by kind."
    stopped: StoppedError | None = None
    "What ended the work early, if anything did; what is here is valid."

    @property
    def kept(self) -> tuple[Question, ...]:
        return tuple(question for question in self.questions if not question.reasons)


def worded(chain: Chain) -> str:
    """The way in words, with no name in them."""
    first = "that can be read in this picture" if chain.clue.kind == "text" else "of the sight in this picture"
    said = [f"Start from the name {first}."]
    for number, hop in enumerate(chain.hops[:-1]):
        whose = "its" if number == 0 else "that one's"
        if hop.kind == "fact":
            said.append(f"Go on to {whose} “{hop.label}”.")
        else:
            said.append("A published picture of that shows another name: go on to what bears it.")
    said.append(f"What is told there as “{chain.hops[-1].label}”?")
    return " ".join(said)


def write_questions(
    out: Path,
    mined: Mined,
    pictures: Mapping[str, Picture],
    count: int,
    card: Mapping[str, Json],
    *,
    copied: Mapping[str, Path] | None = None,
) -> Benchmark:
    """BENCH of `answer` tasks: one picture, one question, the steps with their pages; and the files to copy into it."""
    kept = mined.kept[:count]
    if not kept and mined.stopped is not None:
        raise mined.stopped
    if not kept:
        raise UserError(
            "no question was found that needs the picture and a search.",
            "give pictures with names in them, or another --web",
        )
    shown = {question.picture: pictures[question.picture] for question in kept}
    benchmark = Benchmark(
        name=out.resolve().name,
        corpus=Corpus(out.resolve().name, shown),
        tasks={question.id: _task(question) for question in kept},
        truth={question.id: Answer(question.chain.answer, steps=_steps(question)) for question in kept},
        card={
            "mined": QUESTIONS,
            "description": "Questions about single pictures that need several searches.",
            "languages": ["en"],
            **card,
            "retention": dict(mined.counts),
            "reviewed": False,
        },
    )
    return bench.write(benchmark, out, copied=copied)


def _task(question: Question) -> Task:
    hops = question.chain.hops
    labels = {
        "hops": (str(len(hops)),),
        "visual_hops": (str(sum(hop.kind == "picture" for hop in hops)),),
        "needs_search": ("yes",),
        "start": (question.chain.clue.kind,),
        **dict.fromkeys(_NEEDS, ("true",)),
    }
    chain: list[Json] = [asdict(hop) for hop in hops]
    extra: dict[str, Json] = {"mined": {"clue": question.chain.clue.name, "hops": chain}, "review": "waiting"}
    prompt = (question.text, PictureRef(question.picture))
    return Task(question.id, "answer", prompt, labels=labels, extra=extra)


def _steps(question: Question) -> tuple[Step, ...]:
    seen = Step("caption", f"The picture shows the name {question.chain.clue.name}.", (PictureRef(question.picture),))
    return (seen, *(_step(hop) for hop in question.chain.hops))


def _step(hop: Hop) -> Step:
    if hop.kind == "picture":
        return Step("caption", f"The picture on {hop.url} shows the name {hop.value}.")
    return Step("search", f"{hop.label}: {hop.value} ({hop.url})")
