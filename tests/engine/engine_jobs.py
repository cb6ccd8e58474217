"""What the worker processes of the tests do."""

import os
import signal
import time


def double(n: int) -> int:
    return 2 * n


def die_on_7(n: int) -> int:
    if n == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return n


def hang_on_3(n: int) -> int:
    if n == 3:
        time.sleep(60)
    return n


def noisy(n: int) -> int:
    os.write(1, b"warning: something\n")
    return n


def process_id(_: int) -> int:
    return os.getpid()


def does_not_exist(_: int) -> None:
    """No worker finds it under its own name."""


does_not_exist.__qualname__ = "nowhere"
