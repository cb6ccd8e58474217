"""The packages of `examples/plugins`: installed as their users would, and used through the command line."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

import pytest

import models_server as wire
from agent_bench import ANA, small_bench
from agent_stand_ins import call, calls, says
from command_line import Cli, Commands, plain_environment
from make_tools import COLOURS, draw, flat, write_rows
from runs.run_world import coloured
from sightline import Benchmark, Run, plugins
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.runs.folder import read_run, write_run
from sightline.types import Annotation, Ranking

EXAMPLES = Path(__file__).parents[1] / "examples" / "plugins"
FOLDERS = sorted(path.parent for path in EXAMPLES.glob("*/pyproject.toml"))
COLOUR_NAMES = tuple(COLOURS)


def install(target: Path) -> None:
    """By pip, with no network; where hatchling is missing, what pip would leave: the metadata and the module."""
    if find_spec("hatchling") is not None:
        words = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--no-compile", "--target", str(target)]
        subprocess.run([sys.executable, "-m", "pip", "install", *words, *map(str, FOLDERS)], check=True, timeout=300)
        return
    for project in FOLDERS:
        told = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
        facts = target / f"{told['name'].replace('-', '_')}-{told['version']}.dist-info"
        facts.mkdir(parents=True)
        (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {told['name']}\nVersion: {told['version']}\n")
        lines = []
        for group, entries in told["entry-points"].items():
            lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
        (facts / "entry_points.txt").write_text("\n".join(lines))
        for module in project.glob("*.py"):
            (target / module.name).write_bytes(module.read_bytes())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    install(target)
    return target


@pytest.fixture
def plugged(commands: Commands, site: Path, tmp_path: Path) -> Cli:
    """The command line, with all examples installed."""

    def run(*arguments: object, beside: Path | None = None) -> subprocess.CompletedProcess[str]:
        path = [site] if beside is None else [beside, site]
        done = commands.run([*map(str, arguments)], tmp_path, plain_environment(), path)
        assert done.returncode == 0, done.stderr
        return done

    return run


def code_lines(module: Path) -> int:
    """Lines that are neither blank nor a comment, an import, a docstring or a closing bracket."""
    text = module.read_text("utf-8")
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
                left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if number not in left_out)
    return sum(bool(line) and not line.startswith("#") and bool(line.strip(")]},")) for _, line in lines)


def test_there_is_one_for_each_kind_and_each_is_short() -> None:
    groups = set()
    for folder in FOLDERS:
        told = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
        groups |= set(told["project"]["entry-points"])
        (module,) = folder.glob("*.py")
        assert code_lines(module) <= 10, module
        assert told["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"] == [module.name]
    others = {"webs", "commands", "models", "trainable"}  # These bring a program or a network with them.
    assert groups == {f"sightline.{group}" for group in plugins.GROUPS if group not in others}


def test_the_page_shows_each_of_them_as_it_is() -> None:
    page = (EXAMPLES.parents[1] / "docs" / "plugins.md").read_text("utf-8")
    for folder in FOLDERS:
        (module,) = folder.glob("*.py")
        code = module.read_text("utf-8").strip()
        assert f"```python\n{code}\n```" in page, module
        (entry,) = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"].items()
        ((name, target),) = entry[1].items()
        assert f'[project.entry-points."{entry[0]}"]\n{name} = "{target}"' in page, module


def test_metric(plugged: Cli, tmp_path: Path) -> None:
    made = Benchmark.from_tables(["a", "b"], None, {"q1": {"a": 2, "b": 1}, "q2": {"a": 1}}, root=tmp_path)
    bench = write_benchmark(made, tmp_path / "bench")
    write_run(Run.from_rankings({"q1": ["b", "a"], "q2": ["a"]}, benchmark=bench), tmp_path / "run")
    done = plugged("score", "bench", "run", "--metrics", "top_grade", "--json")
    assert json.loads(done.stdout)["overall"]["top_grade"]["mean"] == 0.75


def test_embedder(plugged: Cli, tmp_path: Path) -> None:
    draw(tmp_path / "pictures", *COLOUR_NAMES)
    done = plugged("search", "something blue", "--in", "pictures", "--embedder", "mean-color", "-k", 1, "--json")
    assert "blue" in json.loads(done.stdout)["hits"][0]["id"]


def test_chat_model(plugged: Cli, tmp_path: Path) -> None:
    small_bench(tmp_path / "bench")
    plugged("run", "bench", "--system", "chat:model=constant/B", "--out", "run")
    scores = json.loads(plugged("score", "bench", "run", "--json").stdout)
    assert scores["overall"]["accuracy"]["mean"] == 1.0


def test_system(plugged: Cli, tmp_path: Path) -> None:
    days = {"a": 3, "b": 9, "c": 6}
    pictures = [{"id": name, "taken_at": datetime(2024, 5, day).isoformat()} for name, day in days.items()]
    made = Benchmark.from_tables(pictures, None, {"q": ["a"]}, root=tmp_path)
    write_benchmark(made, tmp_path / "bench")
    plugged("run", "bench", "--system", "newest:k=2", "--out", "run")
    kept = read_run(tmp_path / "run")
    assert kept.attempts[0].prediction == Ranking(("b", "c"))
    assert kept.parameters["kind"] == "newest" and kept.parameters["k"] == 2


def test_index(plugged: Cli, tmp_path: Path) -> None:
    coloured(tmp_path / "bench", tasks=6)
    for name, backend in (("prefix", "prefix"), ("exact", "exact")):
        spec = f"retriever:embedder=mean-color,backend={backend}"
        plugged("run", "bench", "--system", spec, "--out", name)
    prefix, exact = read_run(tmp_path / "prefix"), read_run(tmp_path / "exact")
    assert prefix.attempts == exact.attempts and len(exact.attempts) == 6  # 64 numbers are all that there are.
    assert prefix.parameters["backend"] == "prefix"


def test_format(plugged: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text('file,caption\na.jpg,"a dog, running"\nb.jpg,a cat\n', "utf-8")
    done = plugged("import", "captions-csv", "mine.csv", "--out", "bench", "--json")
    told = json.loads(done.stdout)
    assert (told["tasks"], told["judgments"], told["pictures"]) == (2, 2, 2)
    made = read_benchmark(tmp_path / "bench")
    assert "a dog, running" in made.tasks and made.corpus.pictures["a.jpg"].path == tmp_path / "a.jpg"
    assert "captions-csv" in plugged("formats").stdout


def test_tool(plugged: Cli, tmp_path: Path) -> None:
    def asks(received: wire.Received) -> wire.Answer:
        used = any(message["role"] == "tool" for message in received.json["messages"])
        return says(f"The final answer is: [{ANA[0]}].") if used else calls(call("Season", {"photo": ANA[0]}))

    small_bench(tmp_path / "bench")
    with wire.serving_in_thread(asks) as server:
        spec = f"agent:model=vllm/stub,base_url={server.base_url},tools=Season"
        plugged("run", "bench", "--system", spec, "--out", "run", "--limit", 1)
        told = [message for message in server.requests[-1].json["messages"] if message["role"] == "tool"]
        assert next(tool["function"]["name"] for tool in server.requests[0].json["tools"]) == "Season"
    assert "summer" in str(told)


def test_planner(plugged: Cli, tmp_path: Path) -> None:
    notes = (Annotation(f"{number}.jpg", "a field", {}, {}, ("plain", str(number))) for number in range(40))
    write_rows(tmp_path / "annotations.jsonl", [flat(note) for note in notes])
    (tmp_path / "sightline.toml").write_text('[plan]\nstrategy = "random"\nseeds = 3\n')
    plugged("make", "plan", "--annotations", "annotations.jsonl", "--config", "sightline.toml", "--out", "project")
    plans = [json.loads(line) for line in (tmp_path / "project" / "query_plan.jsonl").read_text().splitlines()]
    assert [len(plan["candidates"]) for plan in plans] == [21, 21, 21]
    assert {one["tier"] for plan in plans for one in plan["candidates"]} == {"seed", "random"}


def test_doctor_lists_them_all(plugged: Cli) -> None:
    found = {(one["group"], one["name"]): one for one in json.loads(plugged("doctor", "--json").stdout)["plugins"]}
    assert found["metrics", "top_grade"]["package"] == "sightline-example-metric"
    ours = [one for one in found.values() if (one["package"] or "").startswith("sightline-example-")]
    assert len(ours) == len(FOLDERS) and all(one["problem"] is None for one in ours)
    shown = plugged("doctor").stdout
    assert "captions-csv" in shown and "sightline-example-planner" in shown and "not usable" not in shown


def test_doctor_says_which_failed_to_load_and_why(plugged: Cli, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    facts = broken / "broken_things-1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-things\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(
        "[sightline.metrics]\nraises = broken_module:x\nnumber = fine_module:NUMBER\n"
        "[sightline.systems]\nodd = fine_module:NUMBER\n[sightline.tools]\ngone = fine_module:NOTHING\n"
    )
    (broken / "broken_module.py").write_text("raise RuntimeError('no license')\n")
    (broken / "fine_module.py").write_text("NUMBER = 3\n")
    done = plugged("doctor", "--json", beside=broken)
    found = {one["name"]: one for one in json.loads(done.stdout)["plugins"] if one["package"] == "broken-things"}
    assert "RuntimeError: no license" in found["raises"]["problem"] and "uninstall" in found["raises"]["fix"]
    assert "is not a function" in found["number"]["problem"]
    assert "is not a sightline.runs.systems.base.Kind" in found["odd"]["problem"]
    assert "NOTHING" in found["gone"]["problem"] and done.stderr.count("warning: The plug-in") == 4
    table = plugged("doctor", beside=broken)
    assert table.stdout.count("not usable") == 4 and "top_grade" in table.stdout
