"""Run the commands and the Python of pages, and put in the output that they really have.

`python docs/run_pages.py` writes the pages anew; `--check` only compares, `PAGE…` takes those alone. What differs each
time (seconds, ports, temporary folders) is left as it stands in the page, as long as nothing else changed.

A page takes part when it says how it is run, in a comment near its top:

    <!-- run: photographs -->     13 photographs of scikit-image are in `photos`
    <!-- run: benchmark -->       `bench`, `run`, `other_run`, `history`: small folders as the tests make them
    <!-- run: -->                 an empty folder

Blocks are then run from first to last in one folder: every `$ command` of a `console` block (not `pip` and what stays
open), and every `python` block, whose output is the `text` block that follows it. `<!-- start: COMMAND -->` starts a
server that runs until the page ends; `<!-- file: NAME -->` before a block puts it into that file; and
`<!-- shown: no -->` before a block leaves it out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
_HOW = re.compile(r"^<!-- run:(.*)-->$", re.MULTILINE)
_PART = re.compile(
    r"<!-- start: (?P<start>.*?) -->\n|<!-- file: (?P<file>\S+) -->\n+```\w+\n(?P<body>.*?)^```$|"
    r"<!-- shown: no -->\n+```.*?^```$|"
    r"^```console\n(?P<console>.*?)^```$|^```python\n(?P<python>.*?)^```$(?P<between>\n+)(?:```text\n(?P<text>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
_NOT_RUN = ("pip ", "sightline view", "sightline doctor", "sightline watch", "make ", "#")
_PHOTOGRAPHS = (
    "astronaut.png camera.png chelsea.png coffee.png coins.png horse.png moon.png page.png motorcycle_left.png "
    "motorcycle_right.png hubble_deep_field.jpg retina.jpg rocket.jpg"
)
# Seconds, dates, checksums and ports differ each time; prices of models do from month to month.
_VARIES = re.compile(
    r"\$[\d.,]+(?: \([\d.,]+–[\d.,]+\))?|\d+usd|\d[\d.,]* (?:s|ms|seconds|MB|GB|calls/s)\b|\d\d:\d\d:\d\d|"
    r"[0-9a-f]{12,}|\b20(?:2[6-9]|[3-9]\d)-\d\d-\d\d\b|(?<=127\.0\.0\.1:)\d+|[\d.]+ / [\d.]+ / [\d.]+|  +"
)


def pages() -> list[Path]:
    """Those that say how they are run."""
    return [path for path in sorted((ROOT / "docs").rglob("*.md")) if _HOW.search(path.read_text("utf-8"))]


def rewritten(path: Path, folder: Path) -> str:
    """The text of a page with the output that its blocks have in a folder."""
    text = path.read_text("utf-8")
    found = _HOW.search(text)
    assert found is not None, f"{path} does not say how it is run"
    _set_up(found[1].strip(), folder)
    with ExitStack() as servers:
        shell = _Shell(folder)

        def replace(part: re.Match[str]) -> str:
            if part["start"]:
                servers.enter_context(_serving(part["start"], shell))
            elif part["file"]:
                (folder / part["file"]).write_text(part["body"], "utf-8")
            elif part["console"] is not None:
                return f"```console\n{''.join(_console(part['console'], shell))}```"
            elif part["python"] is not None:
                said = shell.python(part["python"])
                shown = part["text"]
                block = "" if shown is None else f"```text\n{_kept(shown, said)}```"
                return f"```python\n{part['python']}```{part['between']}{block}"
            return part[0]

        return _PART.sub(replace, text)


def _console(block: str, shell: _Shell) -> Iterator[str]:
    """Each command, and what it prints; `…` in the page stands for lines that are left out."""
    for typed in re.split(r"^(?=\$ )", block, flags=re.MULTILINE):
        if not typed.startswith("$ "):
            yield typed
            continue
        command = re.match(r"\$ (?:.*\\\n)*.*\n", typed)
        assert command is not None
        words, shown = command[0][2:], typed[command.end() :]
        yield command[0]
        yield shown if words.startswith(_NOT_RUN) else _kept(shown, shell.run(words))


def _kept(shown: str, said: str) -> str:
    """What is printed now, or what the page has where the two say the same."""
    if _pattern(shown).fullmatch(_plain(said)):
        return shown
    return "".join(f"{line.rstrip()}\n" for line in said.splitlines())


def _plain(text: str) -> str:
    return "\n".join(_VARIES.sub("…", line.strip()) for line in text.strip("\n").splitlines())


def _pattern(shown: str) -> re.Pattern[str]:
    """A line that is only `…` stands for any lines."""
    lines = [r"(?:.*\n)*?.*" if line.strip() == "…" else re.escape(line) for line in _plain(shown).split("\n")]
    return re.compile("\n".join(lines))


_NOT_KEPT = ("SIGHTLINE", "OPENAI", "XDG_")
"""Variables by whose values pages would differ from one machine to the next."""


class _Shell:
    """Commands in one folder, with the variables that former ones set; what they print, on both streams."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_KEPT)}
        docs = {"DOCS": str(ROOT / "docs"), "EXAMPLES": str(ROOT / "examples")}
        self.environment = {**kept, **docs, "HOME": str(folder), "PATH": path, "COLUMNS": "200", "NO_COLOR": "1"}
        self._variables = ""
        self._code = ""

    def run(self, command: str) -> str:
        if re.match(r"(export )?\w+=", command):
            self._variables += command
        return self._output(["bash", "-c", f"{self._variables}{command}"])

    def python(self, code: str) -> str:
        """The output of a block that goes on where the blocks before it ended."""
        mark = "print('-- here --')\n"
        said = self._output([sys.executable, "-c", f"{self._code}{mark}{code}"])
        self._code += code
        return said.rpartition("-- here --\n")[2]

    def _output(self, call: list[str]) -> str:
        done = subprocess.run(
            call, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, text=True, check=False,
        )  # fmt: skip
        return done.stdout.replace(f"{self.folder}/", "")


@contextmanager
def _serving(command: str, shell: _Shell) -> Iterator[None]:
    """A server, from its first line (or two seconds) on until the page ends."""
    server = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=shell.folder, env=shell.environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        port = re.search(r"\b(\d{4,5})\b", command)
        _wait_for(int(port[1]) if port else 0)
        yield
    finally:
        server.terminate()
        server.wait()


def _wait_for(port: int) -> None:
    import socket

    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(f"nothing answers at port {port}")


def _set_up(how: str, folder: Path) -> None:
    if how == "photographs":
        import skimage

        data = Path(skimage.__path__[0]) / "data"
        (folder / "photos").mkdir()
        for name in _PHOTOGRAPHS.split():
            shutil.copy(data / name, folder / "photos")
    elif how == "benchmark":
        sys.path.append(str(ROOT / "tests"))
        from small_folders import make_folders

        make_folders(folder)


def main() -> int:
    """Write, or with `--check` compare; 1 where a page shows something else."""
    given = [Path(name).resolve() for name in sys.argv[1:] if name != "--check"]
    stale = 0
    for page in [page for page in pages() if page in given or not given]:
        with tempfile.TemporaryDirectory() as folder:
            text = rewritten(page, Path(folder).resolve())
        if text == page.read_text("utf-8"):
            continue
        stale += 1
        sys.stdout.write(f"{page.relative_to(ROOT)} shows other output than its commands have\n")
        if "--check" not in sys.argv:
            page.write_text(text, "utf-8")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
