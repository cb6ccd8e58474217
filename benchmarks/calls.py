"""What a call costs: Sightline with its journal on, bare aiohttp (the limit), and other clients of the same server.

Run: python benchmarks/calls.py [--calls 20000] [--peers PYTHON …]. One local server process answers after 50 ms; each
client runs in a process of its own, with 1,000 calls in flight; read the ratios, not the seconds. Clients that are not
installed here are looked for in the environments of the interpreters after `--peers`, and left out with a reason.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

SERVER = Path(__file__).with_name("call_server.py")
MODEL = "test-model"
OUR_CLIENTS = ("aiohttp", "sightline", "from the journal")
PEERS = {"openai": "openai", "openai on aiohttp": "openai", "litellm": "litellm", "inspect_ai": "inspect_ai"}

Ask = Callable[[int], Awaitable[str]]


def prompt(number: int) -> str:
    return f"Describe picture {number} in one sentence, and name the objects that you see."


# --- one client, in a process of its own -----------------------------------------------------------------------


async def pool(ask: Ask, calls: int, in_flight: int) -> None:
    """So many workers that ask one after the other."""
    numbers = iter(range(calls))

    async def work() -> None:
        for number in numbers:
            if not await ask(number):
                raise SystemExit("an empty reply")

    await asyncio.gather(*(work() for _ in range(in_flight)))


async def run_aiohttp(url: str, calls: int, in_flight: int, _: Path) -> None:
    import aiohttp
    import orjson

    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers=headers) as session:

        async def ask(number: int) -> str:
            body = orjson.dumps({"model": MODEL, "messages": [{"role": "user", "content": prompt(number)}]})
            async with session.post(f"{url}/chat/completions", data=body) as response:
                return str(orjson.loads(await response.read())["choices"][0]["message"]["content"])

        await pool(ask, calls, in_flight)


async def run_sightline(url: str, calls: int, in_flight: int, workspace: Path) -> None:
    from sightline.calls.caller import Caller
    from sightline.calls.journal import Journal
    from sightline.calls.rate_limit import RateLimits
    from sightline.engine.async_map import Stage, map_async
    from sightline.models.transport_factory import open_transport
    from sightline.types import ChatReply, ChatRequest, Failure, Message

    model = f"vllm/{MODEL}"
    with Journal(workspace) as journal:
        caller = Caller(open_transport(model, base_url=url), journal, RateLimits.at_once(in_flight), stage="bench")

        async def ask(number: int) -> ChatReply | Failure:
            return await caller.reply(ChatRequest(model, (Message("user", (prompt(number),)),)))

        done = 0
        # A few more than may be in flight: those whose reply is being written to the journal.
        workers = in_flight * 5 // 4
        async for _, reply in map_async(range(calls), Stage("bench", ask, caller.close), concurrency=workers):
            if not isinstance(reply, ChatReply):
                raise SystemExit(f"failed: {reply}")
            done += 1
            if done == calls // 4:
                _note(early_mb=_rss_mb())
        _note(late_mb=_rss_mb())


async def run_openai(url: str, calls: int, in_flight: int, _: Path) -> None:
    import openai

    await _ask_openai(openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0), calls, in_flight)


async def run_openai_on_aiohttp(url: str, calls: int, in_flight: int, _: Path) -> None:
    import openai

    http = openai.DefaultAioHttpClient()
    await _ask_openai(
        openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0, http_client=http), calls, in_flight
    )


async def _ask_openai(client: object, calls: int, in_flight: int) -> None:
    async def ask(number: int) -> str:
        messages = [{"role": "user", "content": prompt(number)}]
        reply = await client.chat.completions.create(model=MODEL, messages=messages, timeout=600)  # type: ignore[attr-defined]
        return str(reply.choices[0].message.content)

    await pool(ask, calls, in_flight)
    await client.close()  # type: ignore[attr-defined]


async def run_litellm(url: str, calls: int, in_flight: int, _: Path) -> None:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    async def ask(number: int) -> str:
        reply = await litellm.acompletion(
            model=f"openai/{MODEL}",
            api_base=url,
            api_key="none",
            messages=[{"role": "user", "content": prompt(number)}],
            num_retries=0,
        )
        return str(reply.choices[0].message.content)

    await pool(ask, calls, in_flight)


async def run_inspect_ai(url: str, calls: int, in_flight: int, _: Path) -> None:
    from inspect_ai.model import GenerateConfig, get_model

    config = GenerateConfig(max_connections=in_flight)
    model = get_model(f"openai/{MODEL}", base_url=url, api_key="none", config=config, responses_api=False)

    async def ask(number: int) -> str:
        return str((await model.generate(prompt(number))).completion)

    await pool(ask, calls, in_flight)


RUNS = {
    "aiohttp": run_aiohttp,
    "sightline": run_sightline,
    "from the journal": run_sightline,
    "openai": run_openai,
    "openai on aiohttp": run_openai_on_aiohttp,
    "litellm": run_litellm,
    "inspect_ai": run_inspect_ai,
}
_NOTES: dict[str, float] = {}


def _note(**values: float) -> None:
    _NOTES.update(values)


def _rss_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def run_one(name: str, url: str, calls: int, in_flight: int, workspace: Path) -> None:
    """Measure one client, warmed up (imports, first connections), and print the figures."""
    _allow_many_files()
    asyncio.run(RUNS[name](url, in_flight // 10, in_flight // 10, workspace / "warm-up"))
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.perf_counter()
    asyncio.run(RUNS[name](url, calls, in_flight, workspace))
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"calls": calls, "seconds": seconds, "cpu": cpu, **_NOTES}))


def _allow_many_files() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(16384, most), most))


# --- all of them -------------------------------------------------------------------------------------------------


@contextmanager
def server(seconds: float) -> Iterator[str]:
    """A server in a process of its own."""
    _allow_many_files()
    process = subprocess.Popen([sys.executable, SERVER, str(seconds)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.kill()
        process.wait()


def measure(python: str, name: str, url: str, calls: int, in_flight: int, workspace: Path) -> dict[str, float] | str:
    """The figures of one client, or why there are none."""
    command = [python, __file__, "--one", name, url, str(calls), str(in_flight), str(workspace)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    figures: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return figures


def find_python(module: str, pythons: list[str]) -> str | None:
    """The first interpreter that can import it."""
    for python in pythons:
        probe = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
        if subprocess.run([python, "-c", probe], check=False).returncode == 0:
            return python
    return None


def best(rounds: list[dict[str, float]]) -> dict[str, float]:
    """The round with the least CPU: what else the machine does only ever adds."""
    return min(rounds, key=lambda figures: figures["cpu"])


def compare(calls: int, peer_calls: int, in_flight: int, rounds: int, pythons: list[str]) -> None:
    found: dict[str, list[dict[str, float]]] = {}
    missing: dict[str, str] = {}
    peers = {name: find_python(module, pythons) for name, module in PEERS.items()}
    with server(0.05) as url, tempfile.TemporaryDirectory() as scratch:
        for number in range(rounds):
            for name in (*OUR_CLIENTS, *PEERS):
                python = peers.get(name, sys.executable)
                if python is None:
                    missing[name] = f"{PEERS[name]} is not installed (--peers)"
                    continue
                many = peer_calls if name in PEERS else calls
                figures = measure(python, name, url, many, in_flight, Path(scratch) / str(number))
                if isinstance(figures, str):
                    missing[name] = figures
                else:
                    found.setdefault(name, []).append(figures)
    show(found, missing, in_flight)


def show(found: dict[str, list[dict[str, float]]], missing: dict[str, str], in_flight: int) -> None:
    print(f"\n50 ms server, {in_flight:,} in flight{'':16}CPU/call      × aiohttp   calls/s      sightline ×")
    base, ours = best(found["aiohttp"]), best(found["sightline"])
    for name, rounds in found.items():
        figures = best(rounds)
        cpu, rate = figures["cpu"] / figures["calls"], figures["calls"] / figures["seconds"]
        share = cpu / (base["cpu"] / base["calls"])
        faster = ours["calls"] / ours["seconds"] / rate
        label = f"{name} ({figures['calls']:,.0f} calls)"
        print(f"  {label:42} {1000 * cpu:7.3f} ms   {share:8.2f}   {rate:9,.0f}   {faster:10.2f}")
    for name, why in missing.items():
        print(f"  {name:42} left out: {why}")
    early, late = ours["early_mb"], ours["late_mb"]
    print(f"  sightline's memory: {early:.0f} MB after a quarter of the calls, {late:.0f} MB at the end")


def latency_bound(calls: int, in_flight: int, rounds: int) -> None:
    ideal = calls / in_flight
    seconds: dict[str, float] = {}
    with server(1.0) as url, tempfile.TemporaryDirectory() as scratch:
        for number in range(rounds):
            for name in ("aiohttp", "sightline"):
                figures = measure(sys.executable, name, url, calls, in_flight, Path(scratch) / str(number))
                if isinstance(figures, str):
                    raise SystemExit(f"{name}: {figures}")
                seconds[name] = min(seconds.get(name, figures["seconds"]), figures["seconds"])
    print(f"\n1 s server, {in_flight:,} in flight, {calls:,} calls: share of the ideal {ideal:.0f} s")
    for name, best_seconds in seconds.items():
        print(f"  {name:42} {ideal / best_seconds:.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=5, metavar=("NAME", "URL", "CALLS", "IN_FLIGHT", "WORKSPACE"))
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--peer-calls", type=int, default=3_000, help="fewer for clients that take much longer")
    parser.add_argument("--in-flight", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=2, help="interleaved; the best of each counts")
    parser.add_argument("--peers", nargs="*", default=[], metavar="PYTHON", help="interpreters that have other clients")
    options = parser.parse_args()
    if options.one:
        name, url, calls, in_flight, workspace = options.one
        run_one(name, url, int(calls), int(in_flight), Path(workspace))
        return
    pythons = [sys.executable, *options.peers]
    compare(options.calls, options.peer_calls, options.in_flight, options.rounds, pythons)
    latency_bound(max(500, options.calls // 2), 500, options.rounds)


if __name__ == "__main__":
    main()
