"""The commands that made the folders of the old version, and that the tests run again into another folder.

They run in the folder that holds `pictures`, `workspace` and so on, with relative paths. `OUT` stands for the folder
or file that a command writes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from old_version_server import url_of

WORKSPACE = ("--workspace", "workspace")
THINKING = ("--workspace", "thinking")
"""`think` scans its folder, and the index of the other workspace is to stay as it is."""
QUERY = "a red boat"
_PROJECT = ("--config", "make.toml", *WORKSPACE)
_IMAGES = ("--images", "project/images.jsonl")
_PLANNED = (*_IMAGES, "--annotations", "project/annotations.jsonl", "--query-plan", "project/query_plan.jsonl")


def embedder(part: str) -> str:
    """An embedder at the address of a part."""
    return f"http:{url_of(part)}#tiny"


def _asked(part: str, model: str) -> tuple[str, ...]:
    return ("--model", f"vllm/{model}", "--base-url", url_of(part), *WORKSPACE)


def _of_project(part: str, *files: str) -> tuple[str, ...]:
    return ("make", part, "--base-url", url_of(part), *files, *_PROJECT, "--out", "OUT")


ASKING: Mapping[str, tuple[str, ...]] = {
    "rerank": ("search", QUERY, "-k", "4", "--depth", "6", "--rerank", "openai/eye", *WORKSPACE),
    "ask": ("ask", "Where is the red boat?", *_asked("ask", "finder")),
    "taxonomy": (*("make", "taxonomy", *_asked("taxonomy", "seer"), *_IMAGES, "--config", "OUT.toml", "--out", "OUT"),),
    "annotate": _of_project("annotate", *_IMAGES),
    "query": _of_project("query", *_PLANNED, "--seeds", "project/seeds.jsonl"),
    "judge": _of_project("judge", *_PLANNED, "--queries", "project/queries.jsonl"),
    "mine": (
        *("mine", "workspace", *_asked("mine", "miner"), "--embedder", embedder("mine"), "--clues", "1"),
        *("--queries", "12", "--retrieval-bound", "1", "--metadata-bound", "1", "--project", "OUT/project"),
        *("--out", "OUT/benchmark"),
    ),
    "think": (
        *(
            "think",
            "thought-about",
            "--teacher",
            f"vllm/one@{url_of('think')}",
            "--teacher",
            f"vllm/two@{url_of('think')}",
        ),
        *("--verifier", f"vllm/eye@{url_of('think')}", "--prompt", "Is it a {label}?", "--labels", "labels.txt"),
        *("--format", "jsonl", *THINKING, "--out", "OUT"),
    ),
    "steps": ("steps", "questions", *_asked("steps", "stepper"), "--out", "OUT"),
    "difficulty": ("difficulty", "questions", *_asked("difficulty", "pupil"), "--samples", "4", "--out", "OUT"),
    "grade": ("difficulty", "questions", *_asked("grade", "grader"), "--by", "judge", "--out", "OUT"),
    "ablate": ("ablate", "questions", *_asked("ablate", "pupil"), "--out", "OUT"),
    "chat": (
        "run",
        "questions",
        "--system",
        f"chat:model=vllm/talker,base_url={url_of('chat')}",
        *WORKSPACE,
        "--out",
        "OUT",
    ),
    "agent": (
        *("run", "colors", "--out", "OUT", *WORKSPACE),
        *("--system", f"agent:model=vllm/finder,base_url={url_of('agent')},embedder={embedder('agent')}"),
    ),
}
"""By part: what asks a model. `rerank` and `ask` also need the embedder of the index, at the address of `search`."""
BUILT = {
    "taxonomy": "taxonomy",
    "annotate": "project",
    "query": "project",
    "judge": "project",
    "mine": "mined",
    "think": "traces",
    "steps": "steps",
    "difficulty": "graded",
    "grade": "graded-by-judge",
    "ablate": "ablated",
    "chat": "runs/chat",
    "agent": "runs/agent",
}
"""By part: what its command wrote when the folders were made."""


def command(part: str, out: str) -> list[str]:
    return [word.replace("OUT", out) for word in ASKING[part]]


def sightline(
    folder: Path, *arguments: str, python: Sequence[str] = ("-m", "sightline")
) -> subprocess.CompletedProcess[str]:
    """Run a command line in a folder; OpenAI's address is that of the part `rerank`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SIGHTLINE", "OPENAI"))}
    set_ = {"OPENAI_BASE_URL": url_of("rerank"), "OPENAI_API_KEY": "none", "NO_COLOR": "1", "PYTHONUTF8": "1"}
    return subprocess.run(
        [sys.executable, *python, *arguments],
        cwd=folder,
        env=kept | set_ | {"COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
