"""What is taught in which order: a small TOML file, shipped or the user's own."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, Strict, ValidationError, model_validator

from sightline.benchmark.problems import ProblemsError, explain
from sightline.config.section import StrictModel
from sightline.errors import UserError

StepName: TypeAlias = Literal["summary", "caption", "text-to-region", "region-to-region", "conclusion"]
PoolName: TypeAlias = Literal["easy", "hard", "all"]
Order: TypeAlias = Literal["shuffled", "as-is", "easy-first", "hard-first"]
Arrangement: TypeAlias = Literal["in-order", "stages-reversed", "phases-reversed", "shuffled"]

STEPS: tuple[StepName, ...] = ("summary", "caption", "text-to-region", "region-to-region", "conclusion")
"""In the order in which they are given and written."""
_SHIPPED = Path(__file__).parent / "plans"
SHIPPED = ("mir", "plain", "full-chain", "shuffled", "reverse", "anti", "self-paced", "faded")


@dataclass(frozen=True, slots=True)
class CurriculumStage:
    """Which questions are asked with which steps given, and which steps are to be written.

    `band` is a part of the pool by difficulty (0 easiest, 1 hardest) and `fraction` a sample of that, by lot; `mix` is
    the share of its records that repeat earlier stages.
    """

    name: str
    phase: str
    target: tuple[StepName, ...]
    given: tuple[StepName, ...] = ()
    pool: PoolName = "all"
    band: tuple[float, float] = (0.0, 1.0)
    fraction: float = 1.0
    order: Order = "shuffled"
    epochs: int = 1
    mix: float = 0.0


@dataclass(frozen=True, slots=True)
class CurriculumPlan:
    """Stages in the order of the training; a `shuffled` plan mixes the records of all of them into one.

    With `regions`, the boxes that steps speak of are written behind their words.
    """

    name: str
    stages: tuple[CurriculumStage, ...]
    summary: str = ""
    shuffled: bool = False
    regions: bool = True

    @property
    def steps(self) -> frozenset[StepName]:
        """All steps that any stage gives or asks for."""
        return frozenset(step for stage in self.stages for step in (*stage.given, *stage.target))

    @property
    def needs_difficulty(self) -> bool:
        """Can it be followed only where the difficulty of questions is known?"""
        return any(
            stage.pool != "all" or stage.band != (0.0, 1.0) or stage.order in ("easy-first", "hard-first")
            for stage in self.stages
        )


def load_plan(given: str) -> CurriculumPlan:
    """A shipped plan by its name, or one from a TOML file."""
    if given in SHIPPED:
        return _read(_SHIPPED / f"{given}.toml", ())
    path = Path(given).expanduser()
    if not path.is_file():
        raise UserError(f'there is no plan "{given}".', f"name one of {', '.join(SHIPPED)}, or a TOML file")
    return _read(path, ())


class _StageSection(StrictModel):
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
    target: Annotated[tuple[StepName, ...], Strict(False)]
    given: Annotated[tuple[StepName, ...], Strict(False)] = ()
    pool: PoolName = "all"
    band: Annotated[tuple[float, float], Strict(False)] = (0.0, 1.0)
    fraction: float = Field(1.0, gt=0, le=1)
    order: Order = "shuffled"
    epochs: int = Field(1, ge=1)
    mix: float = Field(0.0, ge=0, lt=1)

    @model_validator(mode="after")
    def _is_sound(self) -> _StageSection:
        if not self.target:
            raise ValueError("a stage needs a target: the steps that are to be written")
        if {*self.given} & {*self.target}:
            raise ValueError("a step can't be both given and a target")
        if "conclusion" in self.given:
            raise ValueError("the conclusion can't be given: it holds the answer")
        if not 0 <= self.band[0] < self.band[1] <= 1:
            raise ValueError("band must be two rising numbers from 0 (easiest) to 1 (hardest)")
        if self.mix and self.order != "shuffled":
            raise ValueError("a stage that mixes in earlier ones is shuffled: leave out its order")
        return self

    def to_stage(self, phase: str) -> CurriculumStage:
        return CurriculumStage(**self.model_dump(exclude={"given", "target"}), phase=phase, **self._steps())

    def _steps(self) -> dict[str, Any]:
        """In their order, however they were listed."""
        return {
            "given": tuple(step for step in STEPS if step in self.given),
            "target": tuple(step for step in STEPS if step in self.target),
        }


class _PhaseSection(StrictModel):
    name: Annotated[str, Field(min_length=1)]
    stages: Annotated[tuple[_StageSection, ...], Strict(False)]

    # Not a least length, which is also missed where a stage is wrong in itself.
    @model_validator(mode="after")
    def _is_sound(self) -> _PhaseSection:
        if not self.stages:
            raise ValueError("a phase needs stages")
        return self


class _PlanFile(StrictModel):
    name: Annotated[str, Field(min_length=1)]
    summary: str = ""
    base: str | None = None
    arrange: Arrangement = "in-order"
    regions: bool | None = None
    phases: Annotated[tuple[_PhaseSection, ...], Strict(False)] = ()

    @model_validator(mode="after")
    def _is_sound(self) -> _PlanFile:
        if (self.base is None) == (not self.phases):
            raise ValueError("a plan has either phases of its own or the base that they are taken from")
        names = [stage.name for phase in self.phases for stage in phase.stages]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f'two stages are called "{twice[0]}"')
        return self


def _read(path: Path, before: tuple[Path, ...]) -> CurriculumPlan:
    if path in before:
        raise UserError(f"{path} is built on itself.", "let its base be another plan")
    try:
        data = tomllib.loads(path.read_text("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(
            f"{path} is not a TOML file: {error}.", "see docs/curriculum.md for what a plan looks like"
        ) from None
    try:
        file = _PlanFile.model_validate(data)
    except ValidationError as error:
        raise ProblemsError(explain(error, str(path), fields=_PlanFile.model_fields)) from error
    return _resolved(file, path, before)


def _resolved(file: _PlanFile, path: Path, before: tuple[Path, ...]) -> CurriculumPlan:
    if file.base is None:
        stages = tuple(stage.to_stage(phase.name) for phase in file.phases for stage in phase.stages)
        plan = CurriculumPlan(file.name, stages, file.summary)
    else:
        base = _SHIPPED / f"{file.base}.toml" if file.base in SHIPPED else path.parent / file.base
        if not base.is_file():
            raise UserError(f'{path}: there is no plan "{file.base}".', f"name one of {', '.join(SHIPPED)}, or a file")
        plan = replace(_read(base, (*before, path)), name=file.name, summary=file.summary)
    if file.regions is not None:
        plan = replace(plan, regions=file.regions)
    plan = _arranged(plan, file.arrange)
    if (first := plan.stages[0]).mix:
        raise UserError(
            f'{path}: stage "{first.name}" comes first, and has no earlier ones to mix in.', "leave out its mix"
        )
    return plan


def _arranged(plan: CurriculumPlan, arrange: Arrangement) -> CurriculumPlan:
    phases = list(dict.fromkeys(stage.phase for stage in plan.stages))
    by_phase = {phase: [stage for stage in plan.stages if stage.phase == phase] for phase in phases}
    match arrange:
        case "in-order":
            return plan
        case "shuffled":
            return replace(plan, shuffled=True)
        case "stages-reversed":
            stages = [stage for phase in phases for stage in reversed(by_phase[phase])]
        case "phases-reversed":
            stages = [stage for phase in reversed(phases) for stage in by_phase[phase]]
    return replace(plan, stages=tuple(stages))
