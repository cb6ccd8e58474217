"""What making traces costs: `sightline think` with everything on, beside bare aiohttp that only asks.

Run: python benchmarks/think.py [--traces 20000] [--large 60000] [--sentences 4]. One local server process answers after
50 ms with thinking and an answer, no two alike; each client runs in a process of its own, with 1,000 calls in flight.
Sightline asks two teachers about each picture through the journal, filters, compares the teachers, looks for copies and
writes shards; bare aiohttp throws the replies away. Pictures are addresses on the web, so neither reads files. Then the
peak memory for `--traces` and for `--large` of them. Read the ratios, not the seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import orjson

from call_server import Answer
from calls import _allow_many_files, pool

TEACHERS = ("vllm/teacher-a", "vllm/teacher-b")
DELAY = 0.05
IN_FLIGHT = 1_000
_POOL = 4_096
_WORDS = (
    "dog car tree boat house child bench street river bridge lamp window horse market garden tower",
    "red blue old small bright wooden tall narrow quiet broken round heavy wet empty open green",
    "stands lies runs waits leans rests moves shines",
    "beside behind under above near before",
)


# --- the server ------------------------------------------------------------------------------------------------


def sentences() -> list[bytes]:
    """Sentences of twelve words each, of which replies are put together."""
    rng = random.Random(5)
    nouns, looks, verbs, places = (line.split() for line in _WORDS)

    def one() -> str:
        first, second = rng.sample(nouns, 2)
        return (
            f"The {rng.choice(looks)} {rng.choice(looks)} {first} {rng.choice(verbs)} {rng.choice(places)} "
            f"the {rng.choice(looks)} {rng.choice(looks)} {second} at {rng.choice(nouns)} number {rng.randrange(9999)}."
        )

    return [one().encode() for _ in range(_POOL)]


class Thinker(Answer):
    """Answers with so many sentences of thinking and as many of answer."""

    pool = sentences()
    rng = random.Random(7)
    many = 4

    def _answer(self) -> None:
        if self._transport.is_closing():
            return
        picked = self.rng.choices(self.pool, k=2 * self.many)
        text = b"<think>" + b" ".join(picked[: self.many]) + b"</think>" + b" ".join(picked[self.many :])
        body = (
            b'{"id":"c","object":"chat.completion","created":1700000000,"model":"teacher","choices":[{"index":0,'
            b'"message":{"role":"assistant","content":"' + text + b'"},"finish_reason":"stop"}],'
            b'"usage":{"prompt_tokens":812,"completion_tokens":176,"total_tokens":988}}'
        )
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        self._transport.write(head + body)


async def serve(many: int) -> None:
    Thinker.many = many
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Thinker(DELAY), "127.0.0.1", 0, backlog=4096)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


@contextmanager
def server(many: int) -> Iterator[str]:
    """The server in a process of its own."""
    _allow_many_files()
    process = subprocess.Popen([sys.executable, __file__, "--serve", str(many)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.kill()
        process.wait()


# --- one client, in a process of its own -----------------------------------------------------------------------


def address(number: int) -> str:
    return f"https://pictures.example/{number:07d}.jpg"


async def ask_bare(url: str, traces: int) -> None:
    import aiohttp

    from sightline.benchmark.formats.imagenet_think import PROMPT

    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), headers={"Content-Type": "application/json"}
    ) as session:

        async def ask(number: int) -> str:
            shown = {"type": "image_url", "image_url": {"url": address(number // 2)}}
            content = [{"type": "text", "text": PROMPT}, shown]
            body = orjson.dumps(
                {
                    "model": TEACHERS[number % 2].partition("/")[2],
                    "messages": [{"role": "user", "content": content}],
                    "max_tokens": 4096,
                }
            )
            async with session.post(f"{url}/chat/completions", data=body) as response:
                return str(orjson.loads(await response.read())["choices"][0]["message"]["content"])

        await pool(ask, traces, IN_FLIGHT)


def make(url: str, traces: int, folder: Path) -> None:
    from sightline.calls.rate_limit import RateLimits
    from sightline.calls.session import CallOptions, Session
    from sightline.reason.traces.pipeline import TraceWork, make_traces
    from sightline.reason.traces.questions import PictureSource
    from sightline.reason.traces.records import Teacher, TracePicture
    from sightline.reason.traces.teachers import TraceSettings

    pictures = traces // len(TEACHERS)
    source = PictureSource(
        "web", pictures, lambda: (TracePicture(f"{number:07d}.jpg", address(number)) for number in range(pictures))
    )
    asking = CallOptions(base_url=url, limits=RateLimits.at_once(IN_FLIGHT))
    settings = TraceSettings(tuple(Teacher(name) for name in TEACHERS))
    done = make_traces(TraceWork(source, settings, Session(folder / "ws", calls=asking)), folder / "traces")
    if done.kept < 0.99 * traces:
        raise SystemExit(f"only {done.kept:,} of {traces:,} traces were kept: {done.rejected} {done.failed}")


def work(name: str, url: str, traces: int, folder: Path) -> None:
    if name == "aiohttp":
        asyncio.run(ask_bare(url, traces))
    else:
        make(url, traces, folder)


class Watch(threading.Thread):
    """The largest peak of memory (MB) that any process begun by this one had."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        # Not by `getrusage`: that counts what a process was before it became another.
        self.peak = 0.0
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(2.0):
            self.peak = max([self.peak, *map(_peak, _begun_by(os.getpid()))])

    def end(self) -> float:
        self._done.set()
        self.join()
        return self.peak


def _peak(process: int) -> float:
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:  # It has ended.
        return 0.0
    return int(status.split("VmHWM:")[1].split()[0]) / 1024 if "VmHWM:" in status else 0.0


def _begun_by(process: int) -> set[int]:
    """Its children, and theirs."""
    parents: dict[int, int] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # It has ended.
            parents[int(file.parent.name)] = int(file.read_text().rpartition(")")[2].split()[1])
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {process}


def run_one(name: str, url: str, traces: int, folder: Path) -> None:
    """Measure one client, warmed up; that Sightline starts its other processes is part of what is measured."""
    _allow_many_files()
    work(name, url, 2 * IN_FLIGHT // 10, folder / "warm-up")
    watch = Watch()
    watch.start()
    started, before = time.perf_counter(), time.process_time()
    work(name, url, traces, folder)
    seconds, cpu = time.perf_counter() - started, time.process_time() - before
    # Of the process that writes and of its judges: their CPU together.
    writer = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        json.dumps(
            {
                "rate": traces / seconds,
                "seconds": seconds,
                "cpu": cpu,
                "writer_cpu": writer.ru_utime + writer.ru_stime,
                "peak_mb": _peak(os.getpid()),
                "writer_peak_mb": watch.end(),
            }
        )
    )


# --- both ------------------------------------------------------------------------------------------------------


def measure(name: str, url: str, traces: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, __file__, "--one", name, url, str(traces), scratch]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{name}: {done.stderr.strip()[-2000:]}")
        found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    cpu, writing = (1000 * found[name] / traces for name in ("cpu", "writer_cpu"))
    print(
        f"  {name:10} {traces:9,} traces   {found['rate']:7,.0f} calls/s   {cpu:6.3f} ms CPU a call"
        f" + {writing:.3f} to judge and write   peak {found['peak_mb']:.0f} MB + {found['writer_peak_mb']:.0f} MB",
        flush=True,
    )
    return found


def compare(traces: int, large: int, many: int, rounds: int) -> None:
    with server(many) as url:
        print(f"50 ms server, {IN_FLIGHT:,} in flight, {2 * many} sentences a reply")
        both = [(measure("aiohttp", url, traces), measure("sightline", url, traces)) for _ in range(rounds)]
        bare, ours = (max(pair[place]["rate"] for pair in both) for place in (0, 1))
        print(f"  sightline's calls/s × bare aiohttp's, best of each: {ours / bare:.2f} (no less than 0.50 is wanted)")
        least_bare, least_ours = (min(pair[place]["cpu"] for pair in both) for place in (0, 1))
        print(f"  CPU of the process that asks × bare aiohttp's, least of each: {least_ours / least_bare:.2f}")
        if large:
            most, few = measure("sightline", url, large), both[-1][1]
            for who, name in (("who asks", "peak_mb"), ("who writes", "writer_peak_mb")):
                ratio = most[name] / few[name]
                print(f"  peak memory of {who}, {large:,} × {traces:,}: {ratio:.2f} (no more than 1.20 is wanted)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", type=int, metavar="SENTENCES")
    parser.add_argument("--one", nargs=4, metavar=("NAME", "URL", "TRACES", "FOLDER"))
    parser.add_argument("--traces", type=int, default=20_000)
    parser.add_argument("--large", type=int, default=60_000, help="0: leave the second memory measurement out")
    parser.add_argument("--sentences", type=int, default=4, help="of thinking, and as many of answer")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.serve))
    elif options.one:
        name, url, traces, folder = options.one
        run_one(name, url, int(traces), Path(folder))
    else:
        compare(options.traces, options.large, options.sentences, options.rounds)


if __name__ == "__main__":
    main()
