"""The verbs, in the order of the flow; each lives in its own thin module and is imported when it is called."""

from __future__ import annotations

import gc
import os
import select
import sys
from collections.abc import Callable, Sequence
from importlib.resources import files
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from cyclopts import App, Group
from cyclopts.exceptions import CycloptsError

from sightline import __version__, plugins
from sightline.cli.options import Command, Common, set_up_logging, show_plan
from sightline.engine.progress import report
from sightline.english import sentence
from sightline.errors import SightlineError, explain_fault

# By group, in the order of the flow: verb, where it lives, what it does.
_VERBS = {
    "Your pictures": (
        ("scan", "scan:scan", "Read the pictures of a folder into a corpus."),
        ("search", "search:search", "Find pictures by words, by pictures, by time and place."),
        ("ask", "ask:ask", "Ask an agent about your pictures, and watch its steps."),
        ("watch", "watch:watch", "Take in new pictures of a folder as they arrive."),
        ("view", "view:view", "Open the app: pictures, benchmarks, runs and reviews in your browser."),
        ("index", "index:index", "Build or update the search index of a folder, a workspace or a benchmark."),
    ),
    "Benchmarks": (
        ("make", "make:app", "Make a benchmark from a folder of pictures, in one go or stage by stage."),
        ("assess", "assess:assess", "Grade pictures until it is known which system is better."),
        ("extend", "extend:extend", "Add the results of new runs to a benchmark, as a new version to be judged."),
        ("drift", "drift:drift", "Check whether today's queries still look like those of a benchmark."),
        ("mine", "mine:app", "Mine photo histories for requests that need their context."),
        ("import", "import_:import_", "Import another tool's files as a benchmark or a run."),
        ("export", "export:export", "Export a corpus, a benchmark or a run in another tool's format."),
        ("formats", "formats:formats", "List the formats that can be imported and exported."),
        ("validate", "validate:validate", "Check a benchmark or a run and list every problem."),
    ),
    "Evaluate": (
        ("run", "run:run", "Run a system on a benchmark."),
        ("score", "score:app", "Score a run against its benchmark, or TREC files."),
        ("compare", "compare:compare", "Compare runs: which is better, and how certain is it?"),
        ("report", "report:report", "Write one HTML page about several benchmarks and runs."),
        ("leaderboard", "leaderboard:leaderboard", "Rank runs in a table with intervals and ties."),
        ("power", "power:power", "Estimate how many tasks are needed to detect a difference."),
        ("replay", "replay:replay", "Replay an agent's recorded attempt and show where it differs."),
    ),
    "Reasoning": (
        ("think", "think:think", "Collect reasoning traces about pictures from one or more models."),
        ("steps", "steps:steps", "Annotate questions with reasoning steps, and validate them."),
        ("difficulty", "difficulty:difficulty", "Measure how difficult each question is."),
        ("split", "split:split", "Split a benchmark into parts that share no near-duplicates."),
        ("ablate", "ablate:ablate", "Test whether questions need their text, their pictures, and the order of both."),
        ("curriculum", "curriculum:curriculum", "Compile training data from easy to hard, and measure leakage."),
        ("train", "train:train", "Train a vision-language model on a curriculum, stage by stage."),
    ),
    "Tools": (
        ("embed", "embed:app", "Embed pictures or texts as vectors."),
        ("batch", "batch:app", "Send many requests as one provider batch, at a lower price."),
        ("ledger", "ledger:ledger", "Show what model calls cost, by stage and model."),
        ("mcp", "mcp:mcp", "Serve the tools over your pictures by the Model Context Protocol."),
        ("config", "config:app", "Show the effective configuration and the source of each value."),
        ("doctor", "doctor:doctor", "Show what is installed, what is missing, and how to install it."),
        ("demo", "demo:demo", "Show the whole flow on a synthetic photo history, or on your own pictures."),
    ),
}
_Listed = tuple[str, str, str | Callable[..., None], str]
"""Group, verb, where it lives or its function, and what it does."""
_FIRST_STEPS = """\
Search your pictures, make benchmarks from them, and evaluate search engines, models and agents on them.

First steps
  sightline scan ~/Pictures           read your pictures; nothing is written to their folder
  sightline search "a red bicycle"    find pictures by words
  sightline view                      open the app in your browser
  sightline make ~/Pictures --plan    what a benchmark of them would cost

More
  sightline --help                    all commands
  sightline COMMAND --help            options and examples of one
  sightline doctor                    what is installed, and how to install what is missing
"""


def build(verb: str | None = None) -> App:
    """The command line, without running it; for a verb of ours, without those that packages add."""
    app = App(
        name="sightline",
        help="From a folder of pictures to a benchmark that deserves trust, and to scores that do.",
        version=_version,
        version_format="plaintext",
        help_format="markdown",
        suppress_keyboard_interrupt=False,  # It would end without a word.
    )
    groups = {title: Group(title, sort_key=order) for order, title in enumerate(_VERBS)}
    for order, (group, name, command, line) in enumerate(_commands(verb)):
        app.command(command, name=name, help=line, sort_key=order, group=groups[group])
    app.register_install_completion_command()
    last = Group("Options", sort_key=len(_VERBS))
    for flag in ("--help", "--version", "--install-completion"):
        app[flag].group = last
    return app


def _examples(verb: str) -> str | None:
    """The last part of a verb's help: what one would type."""
    import tomllib

    examples = tomllib.loads(files("sightline.cli").joinpath("examples.toml").read_text("utf-8")).get(verb)
    if examples is None:
        return None
    return "Examples\n\n" + "\n".join(f"    # {each['does']}\n    sightline {each['command']}\n" for each in examples)


def _version() -> str:
    """The version, and which optional parts are installed."""
    from sightline.cli.doctor import diagnose

    found = diagnose()
    extras = ", ".join(extra.name for extra in found.extras if not extra.missing) or "none"
    return f"{__version__}\nPython {found.python} on {found.platform}\nextras: {extras}"


def _commands(verb: str | None) -> list[_Listed]:
    """The verbs; each that a package adds has its place among ours."""
    found: list[_Listed] = [
        (group, name, f"sightline.cli.{place}", line) for group, verbs in _VERBS.items() for name, place, line in verbs
    ]
    names = [name for _, name, _, _ in found]
    if verb in names:  # Nobody waits for what packages add.
        return found
    for name, command in plugins.load_all("commands").items():
        if isinstance(command, Command) and name not in names:
            place = names.index(command.after) + 1 if command.after in names else len(names)
            names.insert(place, name)
            found.insert(place, (found[place - 1][0], name, command.function, command.help))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; a user's mistake ends with its fix and exit code 2, never with a traceback."""
    gc.set_threshold(50_000, 20, 20)  # Loading makes many objects and little rubbish: a twentieth of a search's start.
    code: object = 1
    try:
        _run(list(sys.argv[1:] if arguments is None else arguments))
        code = 0
    except SystemExit as end:
        code = end.code
        raise
    finally:
        report({"exit": code})


def _run(tokens: list[str]) -> None:
    set_up_logging(verbose="-v" in tokens or "--verbose" in tokens)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # A terminal that can't show a sign gets a "?".
    try:
        if tokens:
            app = build(tokens[0])
            if {"--help", "-h"} & set(tokens):
                app.help_epilogue = _examples(tokens[0])
            _with_copies(app, tokens)
        else:
            sys.stdout.write(_FIRST_STEPS)
        if sys.stdout is not None:  # It may be closed from the beginning.
            sys.stdout.flush()
    except CycloptsError as error:
        elsewhere = bool(tokens) and plugins.is_elsewhere("commands", tokens[0])
        _fail(str(plugins.unknown("commands", tokens[0], "") if elsewhere else error) + _not_the_folder(tokens), 2)
    except SightlineError as error:
        _fail(_worded(error, tokens), error.exit_code)
    except BrokenPipeError:
        left = [stream for stream in (sys.stdout, sys.stderr) if _has_no_reader(stream)]
        if not left:
            raise  # A process or a connection of ours broke: no user's mistake, and no success.
        for stream in left:  # As `head` does; Python would complain while closing them.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except Exception as error:
        if (told := explain_fault(error)) is None:
            raise
        _fail(_worded(told, tokens), told.exit_code)
    except KeyboardInterrupt as stop:
        _fail(sentence(str(stop) or "Stopped; what was done so far is kept, run it again to go on."), 130)


def _with_copies(app: App, tokens: list[str]) -> None:
    """Run the command on copies of what its arguments name on object storage (`--out s3://…`, `--out=s3://…`)."""
    if not any("://" in token for token in tokens):
        _call(app, tokens)
        return
    from sightline.object_storage import copies, remote_address

    split = [token.partition("=") if token.startswith("--") else ("", "", token) for token in tokens]
    with copies((value for _, _, value in split), verb=tokens[0], local_only="--local-only" in tokens) as here:
        places = {address: str(place) for address, place in here.items()}
        _call(app, [name + sign + places.get(remote_address(value) or "", value) for name, sign, value in split])


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
            os.write(stream.fileno(), b"\n")  # Where it can be read, a traceback follows.
            return False
        poll = select.poll()
        poll.register(stream.fileno(), 0)  # Errors are told of unasked.
        return bool(poll.poll(0))
    except BrokenPipeError:
        return True
    except (OSError, ValueError):  # Closed, or no file at all.
        return False


def _worded(error: SightlineError, tokens: list[str]) -> str:
    """The error and its fix as sentences; what the user gave is left as it was written, and so are commands."""
    names = {"sightline", "pip", "export", *(word.rstrip("/") for word in " ".join(tokens).replace("=", " ").split())}
    return "\n  ".join(sentence(part, names) for part in (error.message, error.fix) if part is not None)


def _fail(message: str, code: int) -> None:
    sys.stderr.write(f"error: {message}\n")
    raise SystemExit(code)
