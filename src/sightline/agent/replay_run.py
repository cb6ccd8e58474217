"""Replaying a task of a run on disk: with its recorded observations, or with the tools over its benchmark."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sightline import bench
from sightline.agent.replay import Replayed, recorded_question, recorded_tools, replay
from sightline.agent.system import AgentSystem
from sightline.agent.system_options import AgentOptions
from sightline.agent.trajectory import Trajectory, read_trajectory
from sightline.agent.webs import FROZEN, offline_web
from sightline.config import Config
from sightline.errors import UserError
from sightline.io import PathLike
from sightline.models.asking import Asking
from sightline.run.folder import read_run
from sightline.run.systems.base import Setting
from sightline.run.visible import visible
from sightline.types import Failure, Run


def replay_task(
    folder: PathLike,
    task: str,
    attempt: int = 0,
    *,
    benchmark: PathLike | None = None,
    workspace: PathLike = ".sightline",
    config: Config | None = None,
) -> Replayed:
    """Do an attempt of a run again, and say where it differs; no model is asked and no call leaves this machine.

    Replies come from the trajectory. Without `benchmark` so do observations, which checks the agent itself; with it,
    its tools are used again on the benchmark's pictures.
    """
    recorded = read_trajectory(folder, task, attempt)
    if benchmark is None:
        return asyncio.run(replay(recorded, recorded_tools(recorded, folder), recorded_question(recorded, folder)))
    return asyncio.run(_with_tools(recorded, read_run(folder), Path(benchmark), Path(workspace), config or Config()))


async def _with_tools(recorded: Trajectory, run: Run, benchmark: Path, workspace: Path, config: Config) -> Replayed:
    made_of = bench.read(benchmark)
    task = visible(made_of).tasks.get(recorded.start.task)
    if task is None or run.parameters.get("kind") != "agent":
        what = "no agent's" if task is not None else f"not of {benchmark}: it has no task {recorded.start.task!r}"
        raise UserError(f"the run is {what}.", "name the benchmark that an agent was run on")
    known = AgentOptions.model_fields
    options = AgentOptions.model_validate({name: value for name, value in run.parameters.items() if name in known})
    if (
        options.web is not None and offline_web(options.web) is None
    ):  # What the run saw of the web was kept; nothing else may be seen now.
        options = options.model_copy(update={"web": f"frozen:{workspace.expanduser() / FROZEN}"})
    setting = Setting(
        benchmark=visible(made_of),
        base=benchmark,
        workspace=workspace.expanduser(),
        config=config,
        asking=Asking(local_only=True),
        seed=run.seed or 0,
    )
    system = AgentSystem(options, setting)
    try:
        await asyncio.to_thread(lambda: list(system.prepare()))
        question = system.question(task, recorded.start.attempt)
        if isinstance(question, Failure):
            raise UserError(f"the task can't be asked any more: {question.message}.", "check the benchmark's pictures")
        return await replay(recorded, system.tools_for(task), question)
    finally:
        await system.close()
