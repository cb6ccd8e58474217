"""The verbs, in the order of the flow; each lives in its own thin module and is imported when it is called."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import App
from cyclopts.exceptions import CycloptsError

from sightline import __version__
from sightline.errors import SightlineError

_VERBS = (
    ("scan", "Read the pictures of a folder into a corpus."),
    ("demo", "Show the whole flow on built-in samples, or on your own pictures."),
    ("doctor", "Say what is installed, what is missing, and the command that adds it."),
)


def build() -> App:
    """The command line, without running it."""
    app = App(
        name="sightline",
        help="From a folder of pictures to a benchmark that deserves trust, and to scores that do.",
        version=__version__,
        help_format="markdown",
    )
    for order, (verb, line) in enumerate(_VERBS):
        app.command(f"sightline.cli.{verb}:{verb}", name=verb, help=line, sort_key=order)
    config = App(name="config", help="The effective configuration and where each value came from.", sort_key=90)
    config.command("sightline.cli.config:show", name="show")
    app.command(config)
    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; a user's mistake ends with its fix and exit code 2, never with a traceback."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    try:
        build()(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        _fail(str(error), 2)
    except SightlineError as error:
        _fail(str(error), error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()  # The reader of our output left; Python would complain while closing stdout.
    except KeyboardInterrupt:
        _fail("stopped; what was done so far is kept, run it again to go on.", 130)


def _fail(message: str, code: int) -> None:
    sys.stderr.write(f"error: {message}\n")
    raise SystemExit(code)
