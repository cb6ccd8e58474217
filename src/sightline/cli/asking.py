"""Options of every verb that asks models: who is asked and where, at what cost, and how many calls at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.common import Common, Switch
from sightline.errors import UserError

if TYPE_CHECKING:
    from sightline.engine.plan import Plan
    from sightline.models.asking import Asking

_GROUP = "Models"
Positive = Annotated[int, Parameter(validator=Number(gte=1))]


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True, kw_only=True)
class Spending:
    """For what makes calls."""

    budget: str | None = None
    "Stop at so much money, such as 5usd, with exit code 3; what was done is kept."
    max_connections: Positive | None = None
    "At most so many calls at once; up to 512, as the server bears it, when not given."

    def asking(self, common: Common) -> Asking:
        """What the library takes."""
        from sightline.engine.budget import Budget
        from sightline.engine.limits import Limits
        from sightline.models.asking import Asking

        most = self.max_connections
        return Asking(
            budget=None if self.budget is None else Budget.parse(self.budget),
            limits=None if most is None else Limits(start=min(most, Limits().start), most=most),
            local_only=common.local_only,
        )


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True, kw_only=True)
class Planned(Spending):
    """For what says its price before."""

    plan: Switch = False
    "Say how many calls, tokens and how much money it would take; ask nobody."

    def asking(self, common: Common) -> Asking:
        """What the library takes."""
        return replace(super().asking(common), plan=self.plan)


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True, kw_only=True)
class Endpoint(Planned):
    """For what asks one server."""

    base_url: str | None = None
    "Where a server is asked, when not at its usual address, such as http://localhost:8000/v1."

    def asking(self, common: Common) -> Asking:
        """What the library takes."""
        return replace(super().asking(common), base_url=self.base_url)


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True, kw_only=True)
class ChatOptions(Endpoint):
    """For what asks a chat model."""

    model: str | None = None
    "Who is asked, such as openai/gpt-5-mini or ollama/llava."
    fresh: Switch = False
    "Ask also for what the journal answers."

    def asking(self, common: Common) -> Asking:
        """What the library takes."""
        return replace(super().asking(common), fresh=self.fresh)

    def chosen(self, otherwise: str | None = None) -> str:
        """The model's name: as given here, else the configured one."""
        name = self.model or otherwise
        if name is None:
            raise UserError("nobody is asked yet.", "say who, for example --model openai/gpt-5-mini")
        return name


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True, kw_only=True)
class Sampling:
    """What replies may be like."""

    max_tokens: Positive | None = None
    "The longest reply."
    temperature: Annotated[float, Parameter(validator=Number(gte=0))] | None = None
    "How much chance there is in replies."
    reasoning_effort: str | None = None
    "How much the model thinks, such as low."

    def parameters(self, common: Common) -> dict[str, Any]:
        """Fields of every request."""
        return {
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "reasoning_effort": self.reasoning_effort,
            "seed": common.seed,
        }


def show_plan(plan: Plan, common: Common) -> None:
    """The table of `--plan`, or its JSON."""
    if common.json:
        common.print_json(plan.to_dict())
    else:
        common.console.print(str(plan), markup=False, soft_wrap=True)
