"""The verbs, in the order of the flow; each lives in its own thin module and is imported when it is called."""

from __future__ import annotations

import errno
import os
import select
import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from cyclopts import App
from cyclopts.exceptions import CycloptsError

from sightline import __version__, plugins
from sightline.cli.options import Command, Common, set_up_logging, show_plan
from sightline.errors import SightlineError, UserError

# Verb, where it lives, what it does; in the order of the flow.
_VERBS = (
    ("scan", "scan:scan", "Read the pictures of a folder into a corpus."),
    ("index", "index:index", "Build the index of a folder, a workspace or a benchmark, or bring it up to date."),
    ("search", "search:search", "Find pictures by words, by pictures, by when and where."),
    ("ask", "ask:ask", "Ask an agent about your pictures; its steps appear as they happen."),
    ("embed", "embed:app", "Turn pictures or texts into vectors."),
    ("import", "import_:import_", "Read files of another tool into a benchmark or a run."),
    ("export", "export:export", "Write a corpus, a benchmark or a run in another tool's format."),
    ("formats", "formats:formats", "List the formats that import reads and export writes."),
    ("validate", "validate:validate", "Say everything that is wrong with a benchmark or a run."),
    ("make", "make:app", "Make a benchmark of a folder of pictures, all of it or one stage."),
    ("extend", "extend:extend", "Add what new runs found to a benchmark, in a new version, to be judged."),
    ("drift", "drift:drift", "Say whether today's queries still look like those of a benchmark."),
    ("mine", "mine:app", "Mine photo histories for requests that need their context."),
    ("run", "run:run", "Run a system over a benchmark."),
    ("score", "score:app", "Score a run on its benchmark, or TREC files."),
    ("compare", "compare:compare", "Say which of several runs is better, and whether that can be trusted."),
    ("assess", "assess:assess", "Grade pictures until it is known which system is better."),
    ("power", "power:power", "Say how many tasks a difference needs to be seen."),
    ("report", "report:report", "Write one page over several benchmarks and runs."),
    ("leaderboard", "leaderboard:leaderboard", "Print and write a table of runs with intervals and tie groups."),
    ("replay", "replay:replay", "Do an agent's attempt again from its record, and say where it differs."),
    ("ledger", "ledger:ledger", "Say what the calls of a workspace cost, by stage and model."),
    ("batch", "batch:app", "Ask many things at once, within a day, at half the price."),
    ("view", "view:view", "Look at pictures, benchmarks and runs, and review labels, in your browser."),
    ("mcp", "mcp:mcp", "Offer the tools over your pictures by the Model Context Protocol."),
    ("think", "think:think", "Have teachers think about pictures, and keep the traces that pass the checks."),
    (
        "steps",
        "steps:steps",
        "Have a model write the reasoning steps of questions, and keep what passes.",
    ),
    ("difficulty", "difficulty:difficulty", "Say which questions are easy and which hard, and keep it on the task."),
    ("split", "split:split", "Split a benchmark into parts that share no picture and no near-duplicate."),
    ("ablate", "ablate:ablate", "Say whether questions need their text, their pictures, and all of them in order."),
    ("curriculum", "curriculum:curriculum", "Compile training data from easy to hard, and measure what leaks."),
    ("train", "train:train", "Train a vision-language model by the stages of a curriculum."),
    ("demo", "demo:demo", "Show the whole flow on an invented life, or a look at your own pictures."),
    ("config", "config:app", "The effective configuration and where each value came from."),
    ("doctor", "doctor:doctor", "Say what is installed, what is missing, and the command that adds it."),
)


def build(verb: str | None = None) -> App:
    """The command line, without running it; for a verb of ours, without those that packages add."""
    app = App(
        name="sightline",
        help="From a folder of pictures to a benchmark that deserves trust, and to scores that do.",
        version=__version__,
        help_format="markdown",
        suppress_keyboard_interrupt=False,  # It would end without a word.
    )
    for order, (name, command, line) in enumerate(_commands(verb)):
        app.command(command, name=name, help=line, sort_key=order)
    return app


def _commands(verb: str | None) -> list[tuple[str, str | Callable[..., None], str]]:
    """Verb, where it lives, and what it does; those that packages add each have their place among ours."""
    found: list[tuple[str, str | Callable[..., None], str]]
    found = [(name, f"sightline.cli.{place}", line) for name, place, line in _VERBS]
    verbs = [name for name, _, _ in _VERBS]
    if verb in verbs:  # Nobody waits for what packages add.
        return found
    for name, command in plugins.load_all("commands").items():
        if isinstance(command, Command) and name not in verbs:
            place = verbs.index(command.after) + 1 if command.after in verbs else len(verbs)
            verbs.insert(place, name)
            found.insert(place, (name, command.function, command.help))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; a user's mistake ends with its fix and exit code 2, never with a traceback."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    set_up_logging(verbose="-v" in tokens or "--verbose" in tokens)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # A terminal that can't show a sign gets a "?".
    try:
        app = build(tokens[0]) if tokens else build()
        _call(app, tokens)
        if sys.stdout is not None:  # It may be closed from the beginning.
            sys.stdout.flush()
    except CycloptsError as error:
        elsewhere = bool(tokens) and plugins.is_elsewhere("commands", tokens[0])
        _fail(str(plugins.unknown("commands", tokens[0], "") if elsewhere else error) + _not_the_folder(tokens), 2)
    except SightlineError as error:
        _fail(str(error), error.exit_code)
    except BrokenPipeError:
        left = [stream for stream in (sys.stdout, sys.stderr) if _has_no_reader(stream)]
        if not left:
            raise  # A process or a connection of ours broke: no user's mistake, and no success.
        for stream in left:  # As `head` does; Python would complain while closing them.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except OSError as error:
        _fail(_said_of(error), 2)
    except Exception as error:
        if type(error).__module__ != "sqlite3":
            raise
        _fail(_said_of_database(error), 2)
    except KeyboardInterrupt as stop:
        _fail(str(stop) or "stopped; what was done so far is kept, run it again to go on.", 130)


def _call(app: App, tokens: list[str]) -> None:
    """Run the command; a dry run (`--plan`) ends with what it would take, which is printed here for all verbs."""
    try:
        app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except SightlineError as end:
        from sightline.calls.plan import DryRunError

        if not isinstance(end, DryRunError):
            raise
        show_plan(end.plan, Common(json="--json" in tokens))


def _not_the_folder(tokens: list[str]) -> str:
    """How to name a folder that is called like a stage of `make`, where there is one."""
    if tokens[:1] != ["make"] or not tokens[1:] or not Path(tokens[1]).is_dir():
        return ""
    from sightline.cli.make import app as stages

    name = tokens[1]
    return f'\n  "{name}" is a stage of make. For the folder of that name write ./{name}.' if name in stages else ""


def _has_no_reader(stream: TextIO | None) -> bool:
    """Did whoever read our output leave? Looked up, and not only tried: what could not be written may be dropped."""
    if stream is None:
        return False
    try:
        stream.flush()
        if not hasattr(select, "poll"):
            return False
        poll = select.poll()
        poll.register(stream.fileno(), 0)  # Errors are told of unasked.
        return bool(poll.poll(0))
    except BrokenPipeError:
        return True
    except (OSError, ValueError):  # Closed, or no file at all.
        return False


def _said_of(error: OSError) -> str:
    """What is wrong with a file, and what to do where it is that no more can be written."""
    said = f"{error.filename or 'the output'}: {error.strerror or error}."
    if error.errno in (errno.EIO, errno.EROFS):
        return str(UserError(said, "check the disk, or choose another place that can be written"))
    if error.errno not in (errno.ENOSPC, errno.EDQUOT):
        return said
    return str(UserError(said, "make room, and run the same command again: it goes on, and replies that came are kept"))


def _said_of_database(error: Exception) -> str:
    """What SQLite met in a file of the workspace, and what to do about it."""
    said = f"a database of the workspace can't be used: {error}."
    if "full" in str(error):
        return str(UserError(said, "make room on its disk, and run the same command again: it goes on"))
    mend = "sightline ledger --repair (the journal), sightline index --rebuild (an index), sightline scan (the corpus)"
    return str(
        UserError(said, f"check its disk, and whether another program locks it; what is damaged is mended by {mend}")
    )


def _fail(message: str, code: int) -> None:
    sys.stderr.write(f"error: {message}\n")
    raise SystemExit(code)
