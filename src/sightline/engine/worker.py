"""The other end of `processes`: reads chunks of items from a pipe, applies one function, writes the results back."""

from __future__ import annotations

import os
import pickle
import struct
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

_LENGTH = struct.Struct("<Q")


def send(pipe: BinaryIO, value: Any) -> None:
    """Write one value."""
    send_frame(pipe, pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))


def receive(pipe: BinaryIO) -> Any:
    """Read one value; EOFError when the other side is gone."""
    return pickle.loads(receive_frame(pipe))  # Only ever from our own parent or child process.


def send_frame(pipe: BinaryIO, body: bytes) -> None:
    """Write some bytes, which come out as they went in."""
    pipe.write(_LENGTH.pack(len(body)))
    pipe.write(body)
    pipe.flush()


def receive_frame(pipe: BinaryIO) -> bytes:
    """Read them; EOFError when the other side is gone."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    body = pipe.read(length)
    if len(body) < length:
        raise EOFError
    return body


def main() -> None:
    """Serve until the parent closes the pipe (or is killed); the function comes first."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Whatever a decoder prints must not get between our frames.
    function: Callable[[Any], Any] = receive(sys.stdin.buffer)
    send(results, "ready")
    while True:
        try:
            chunk = receive(sys.stdin.buffer)
        except EOFError:
            return
        send(results, [function(item) for item in chunk])


if __name__ == "__main__":
    main()
