"""What the systems `agent`, `chat` and `vote` share: options of a SPEC, how tasks are asked, and open chat models."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from sightline.agent.memory import MemorySettings
from sightline.agent.prompts import Division, MemoryForm
from sightline.agent.settings import AgentSettings, TaskLimits
from sightline.agent.state import PictureView
from sightline.agent.tools.box_units import BoxUnit
from sightline.calls.caller import Caller
from sightline.calls.chat import open_chat
from sightline.models.transport_factory import find_endpoint
from sightline.runs.paid_calls import PaidCalls
from sightline.runs.systems.base import Options, SystemSetting
from sightline.runs.task_prompt import Ablation, ShownPicture, TaskPrompts
from sightline.types import Failure, LedgerEntry, PictureRef, Task

Positive: TypeAlias = Annotated[int, Field(ge=1)]


def _split(value: object) -> object:
    """`ImageSearch+ViewPhotos` → both: commas part the options of a SPEC."""
    return [name for part in value.split("+") if (name := part.strip())] if isinstance(value, str) else value


Listed: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_split)]


class ChatSystemOptions(Options):
    """A model, asked once.

    `no_text`, `no_image`, `one_image`, `no_options` and `shuffle_images` are ablations. `language` asks a task's
    translation, and (zh) in Chinese. `base_url` is where a server is asked, when not at its usual address. `seed` is
    the server's own; many take none.
    """

    model: str
    base_url: str | None = None
    language: str | None = None
    no_text: bool = False
    no_image: bool = False
    one_image: bool = False
    no_options: bool = False
    shuffle_images: bool = False
    temperature: Annotated[float, Field(ge=0)] | None = None
    max_tokens: Positive | None = None
    reasoning_effort: str | None = None
    seed: int | None = None
    concurrency: Positive = 4


class AgentSystemOptions(ChatSystemOptions):
    """A model with tools.

    `tools` are those that it gets (`ImageSearch+ViewPhotos`; those that suit the task when not given), `without` leaves
    some out. `subsets=false` and `compression=false` switch the two memories off; `memory=three-tier` and
    `division=episode-target` compress, and take requests apart, as the DISBench paper describes it. `boxes` is the unit
    of boxes and points in tools, that of the model's family when not given. `annotations` lets searches read what the
    benchmark says about its pictures, which makes it DISBench's Open track. `web` is where web tools look; `open_web`
    lets them open addresses that nobody named, `share_metadata` lets what is known of pictures go there,
    `share_pictures` the pictures themselves.
    """

    tools: Listed = ()
    without: Listed = ()
    embedder: str | None = None
    backend: str = "exact"
    annotations: bool = False
    web: str | None = None
    open_web: bool = False
    share_metadata: bool = False
    share_pictures: bool = False
    turns: Positive = 30
    tokens: Positive | None = None
    pictures: Positive | None = None
    seconds: Annotated[float, Field(gt=0)] | None = None
    usd: Annotated[float, Field(gt=0)] | None = None
    subsets: bool = True
    compression: bool = True
    memory: MemoryForm | None = None
    division: Division | None = None
    boxes: BoxUnit | None = None
    compressor: str | None = None
    context_tokens: Positive = 128_000
    context_pictures: Positive = 60

    @property
    def track(self) -> Literal["Standard", "Open"]:
        """DISBench's: Standard embeds pictures before the questions are known, and prepares nothing else."""
        return "Open" if self.annotations else "Standard"

    def settings(self) -> AgentSettings:
        """What the loop takes."""
        return AgentSettings(
            limits=TaskLimits(self.turns, self.tokens, self.pictures, self.seconds, self.usd),
            memory=MemorySettings(
                self.compression, self.context_tokens, self.context_pictures, self.memory or "two-part"
            ),
            language="zh" if self.language == "zh" else "en",
            subsets=self.subsets,
            division=self.division or "free",
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            reasoning_effort=self.reasoning_effort,
            seed=self.seed,
        )


def system_questions(options: ChatSystemOptions, setting: SystemSetting) -> TaskPrompts:
    """How the tasks of a benchmark are put."""
    bench = setting.benchmark
    strangers = dict.fromkeys(ref for task in bench.tasks.values() for ref in task.pictures)
    return TaskPrompts(
        pictures=bench.corpus.pictures,
        base=setting.base,
        language=options.language,
        ablation=Ablation(
            options.no_text, options.no_image, options.one_image, options.no_options, options.shuffle_images
        ),
        seed=setting.seed,
        strangers=tuple(strangers) if options.shuffle_images else (),
    )


def task_content(questions: TaskPrompts, task: Task) -> tuple[str | PictureView, ...] | Failure:
    """The prompt and its options, pictures by their names."""
    content = questions.content(task)
    if isinstance(content, Failure):
        return content
    return tuple(_view(part) if isinstance(part, ShownPicture) else part for part in content)


def region_name(ref: PictureRef) -> str:
    """What a model calls a region: `id#left,top,right,bottom`."""
    box = ref.region
    return ref.id if box is None else f"{ref.id}#{box.left:g},{box.top:g},{box.right:g},{box.bottom:g}"


def _view(shown: ShownPicture) -> PictureView:
    return PictureView(region_name(shown.ref), shown.part, shown.ref.id, shown.ref.region)


class SystemModels:
    """Models by name, each open once; `paid` is what was asked for a task."""

    def __init__(self, setting: SystemSetting, stage: str, base_url: str | None = None) -> None:
        session, self._stage = setting.session, stage
        self._session = session if base_url is None else session.with_calls(base_url=base_url)
        self._open: dict[str, Caller] = {}
        self._stack = AsyncExitStack()
        self._lock = asyncio.Lock()
        self._paid = PaidCalls(session.workspace, setting.folder)

    def check(self, name: str) -> None:
        """Refuse a name that nobody knows before anything is built."""
        find_endpoint(name, base_url=self._session.calls.base_url, models=self._session.config.models)

    async def get(self, name: str) -> Caller:
        """The model, open."""
        async with self._lock:
            if name not in self._open:
                self._open[name] = await self._stack.enter_async_context(
                    open_chat(name, self._session, stage=self._stage)
                )
            return self._open[name]

    def paid(self, task: str) -> tuple[LedgerEntry, ...]:
        """Calls for a task that were not told before."""
        return self._paid.of(task)

    async def close(self) -> None:
        await self._stack.aclose()
        self._paid.close()
