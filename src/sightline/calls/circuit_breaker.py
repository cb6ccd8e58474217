"""The circuit breaker: stop calling an endpoint that is down, refuses the key, lacks the model or has no credit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from sightline.calls.journal import EndpointHistory
from sightline.calls.retry import OVERLOADS
from sightline.errors import SightlineError, StoppedError, UserError
from sightline.types import Failure

_QUESTIONS, _CALLS = 30, 100
"""Some have many calls: samples of a question, pictures of a query."""
_NO_REPLY = frozenset({"connection", "timeout", "server-error", "html", "bad-content-type", "cut-off-body", "bad-json"})
"""Signs that no working server is at the other end."""
_SILENT = frozenset({"connection", "timeout"})
"""Of these, where not even a server was heard."""
_GATEWAYS = frozenset({502, 503, 504, *range(520, 531)})
"""Said by who stands before a server that can't be reached; any other error is the server's own."""
_NOT_ASKED = frozenset({"bad-picture", "unsupported"})
"""What may be found out before anything is sent, and so says nothing of the endpoint."""
RESUME_HINT = "what was done so far is kept: run the same command again to go on"
_LOOK = "a server is there, so look into its log"
_IN_A_ROW = 10
_BAD_REQUESTS_IN_A_ROW = 20
_REFUSED_KEYS_IN_A_ROW = 3
_LONGEST_PROBE = 15.0


class LastAttempts:
    """Who may use up all attempts although a server has nothing but errors; `failure` is the latest of them."""

    __slots__ = ("_count", "_questions", "calls", "failure")

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        self.calls: set[bytes] = set()
        self._questions: set[str | bytes] = set()
        self._count = 0

    def takes(self, call: bytes, question: str | bytes) -> bool:
        """Is there room for this call?"""
        is_known = question in self._questions
        if self._count >= _CALLS or (not is_known and len(self._questions) >= _QUESTIONS):
            return False
        self._questions.add(question)
        self.calls.add(call)
        self._count += 1
        return True


class CircuitBreaker:
    """Watches one endpoint for all who ask it.

    Ten attempts in a row without a reply open it: then one call at a time is let through as a probe, at growing
    intervals, and the first answer closes it, also one that refuses the request. When the endpoint stays away for
    `patience` seconds (5 if it never replied) everybody is stopped. A wrong key, an unknown model and an empty account
    stop everybody at once; after a reply with the same key and model only if they come three times in a row.

    A server that replied once, now or in an earlier run, and now says of everything that it failed (HTTP 500), may be
    well but for the questions that are left. So, instead of the stop, the calls of 30 questions (100 at most) may use
    up their attempts, and fail; if none of them is answered, and there are more, everybody is stopped. Calls that used
    up their attempts so in an earlier run are not held up, and not counted.
    """

    def __init__(
        self, endpoint: str, *, patience: float = 60.0, first_probe: float = 0.5, longest_wait: float = 300.0
    ) -> None:
        """`longest_wait`: a server that asks for a longer rest than this stops everybody."""
        self.endpoint = endpoint
        self._patience, self._first_probe, self._longest_wait = patience, first_probe, longest_wait
        self._replied = False
        self._missing = self._fatal = self._bad = 0
        self._opened: float | None = None
        self._probe_at = 0.0
        self._probe_after = first_probe
        self._probing = False
        self._past: EndpointHistory | None = None
        self._looking = False
        self._last_round: LastAttempts | None = None
        self._stop: SightlineError | None = None
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def is_open(self) -> bool:
        """Is the endpoint taken to be down?"""
        return self._opened is not None

    @property
    def blocks(self) -> bool:
        """Would `ready` wait or raise, but for calls that it lets pass?"""
        return self._opened is not None or self._stop is not None

    def holds(self, call: bytes) -> bool:
        """Would `ready` wait or raise for this call?"""
        return self._stop is not None or (self._opened is not None and not self._lets_pass(call))

    @property
    def is_stopped(self) -> bool:
        """Is there no point in asking on?"""
        return self._stop is not None

    async def ready(self, call: bytes = b"", question: str | None = None) -> bool:
        """Wait until a call (of a question) may go out; True when it goes as a probe.

        Raises what everybody is stopped by.
        """
        while True:
            self.raise_if_stopped()
            if not self.holds(call) or self._joins_last_round(call, question or call):
                return False
            now = asyncio.get_running_loop().time()
            if self._last_round is not None:
                await self.pause(_LONGEST_PROBE)
            elif not self._probing and now >= self._probe_at:
                self._probing = True
                return True
            else:
                await self.pause(_LONGEST_PROBE if self._probing else self._probe_at - now)

    def leave(self, call: bytes) -> None:
        """Nothing more comes of a call: it has its reply, or failed."""
        last = self._last_round
        if last is not None and call in last.calls:
            last.calls.remove(call)
            if not last.calls:
                self._wake_all()

    async def look_back(self, past: Callable[[], Awaitable[EndpointHistory]]) -> None:
        """Where a server has nothing but errors of its own: learn what is known of it from before, once."""
        if self._past is not None or self._looking or self._opened is None:
            return
        self._looking = True
        try:
            self._past = await past()
        finally:
            self._looking = False
        self._wake_all()

    def raise_if_stopped(self) -> None:
        """Raise what everybody is stopped by, if they are."""
        if self._stop is not None:
            raise self._stop.again()

    async def pause(self, seconds: float) -> None:
        """Sleep, but wake when the endpoint comes back or everybody is stopped."""
        if self._stop is not None:
            return
        loop = asyncio.get_running_loop()
        change: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(seconds, _wake, change)
        self._waiting.add(change)
        try:
            await change
        finally:
            timer.cancel()
            self._waiting.discard(change)

    def replied(self) -> None:
        """The endpoint answered, if only with a refusal of this very request."""
        self._replied = True
        self._fatal = self._bad = 0
        self._came_back()

    def failed(
        self,
        failure: Failure,
        *,
        model: str,
        probe: bool,
        lowered: bool,
        retry_after: float | None,
        now: float,
        status: int | None = None,
        call: bytes = b"",
    ) -> None:
        """An attempt at a call failed; `lowered`: it is the first refusal at this rate. `status`: HTTP's."""
        kind = failure.kind
        if retry_after is not None and retry_after > self._longest_wait:
            self.stop(_asks_for_long_rest(self.endpoint, retry_after))
        elif kind in ("auth", "unknown-model", "no-credit"):
            self._fatal += 1
            self._came_back()
            if not self._replied or self._fatal >= _REFUSED_KEYS_IN_A_ROW or kind == "no-credit":
                self.stop(_refused(self.endpoint, model, failure))
        elif kind == "bad-request":
            self._bad += 1
            self._came_back()
            if not self._replied and self._bad >= _BAD_REQUESTS_IN_A_ROW:
                self.stop(_never_accepted(self.endpoint, self._bad, failure))
        elif kind in _NO_REPLY or (kind in OVERLOADS and (lowered or probe)):
            is_own = kind == "server-error" and status not in _GATEWAYS
            if is_own and self._lets_pass(call):
                self._fails_as_known(failure, probe)
            else:
                self._miss(failure, probe, is_own, now)
        elif kind not in OVERLOADS and kind not in _NOT_ASKED:
            self.replied()
        elif probe:
            self.gave_up()

    def gave_up(self) -> None:
        """A probe was broken off before anything came of it, or never left this machine: another goes out at once."""
        self._probing = False
        self._wake_all()

    def stop(self, error: SightlineError) -> None:
        """Stop everybody who asks this endpoint."""
        self._stop = self._stop or error
        self._wake_all()

    def _came_back(self) -> None:
        """Somebody is at the other end, whatever the answer was: the breaker closes."""
        self._missing = 0
        if self._opened is not None:
            self._opened, self._probing, self._probe_after = None, False, self._first_probe
            self._last_round = None
            self._wake_all()

    def _miss(self, failure: Failure, probe: bool, is_own: bool, now: float) -> None:
        self._missing += 1
        if self._opened is None:
            if self._missing >= _IN_A_ROW:
                self._opened = now
                self._probe_at = now + self._probe_after
        elif self._last_round is not None:
            if failure.kind != "rate-limited" and not is_own:  # Now it is away.
                self.stop(_down(self.endpoint, self._missing, failure, self._answered))
        elif probe:
            self._probing = False
            self._probe_after = min(2 * self._probe_after, _LONGEST_PROBE)
            self._probe_at = now + self._probe_after
            if now - self._opened >= (self._patience if self._replied else min(5.0, self._patience)):
                self._lose_patience(failure, is_own)
            self._wake_all()

    def _lose_patience(self, failure: Failure, is_own: bool) -> None:
        if is_own and self._looking:
            return
        if is_own and self._answered:
            self._last_round = LastAttempts(failure)
        else:
            self.stop(_down(self.endpoint, self._missing, failure, self._replied))

    @property
    def _answered(self) -> bool:
        """Did the endpoint ever reply, as far as is known?"""
        return self._replied or (self._past is not None and self._past.answered)

    def _lets_pass(self, call: bytes) -> bool:
        """Is the server's own error at this call no news of the endpoint?"""
        is_last = self._last_round is not None and call in self._last_round.calls
        return is_last or (self._past is not None and call in self._past.worn_out)

    def _joins_last_round(self, call: bytes, question: str | bytes) -> bool:
        """Are this call's attempts among the last? When they were in vain, and others wait, everybody is stopped."""
        last = self._last_round
        if last is None:
            return False
        if last.takes(call, question):
            return True
        if not last.calls:
            self.stop(_down(self.endpoint, self._missing, last.failure, self._answered))
        return False

    def _fails_as_known(self, failure: Failure, probe: bool) -> None:
        if self._last_round is not None:
            self._missing += 1
            self._last_round.failure = failure
        if probe:
            self.gave_up()

    def _wake_all(self) -> None:
        for change in tuple(self._waiting):
            _wake(change)


def _wake(change: asyncio.Future[None]) -> None:
    if not change.done():
        change.set_result(None)


def _down(endpoint: str, count: int, failure: Failure, replied: bool) -> StoppedError:
    if failure.kind not in _SILENT:
        what = "now answers nothing but errors" if replied else "answers nothing but errors"
        fix = f"{_LOOK}; {RESUME_HINT}" if replied else f"{_LOOK}, and check the address (--base-url)"
    else:
        what = "no longer answers" if replied else "does not answer"
        fix = (
            RESUME_HINT
            if replied
            else "is the server running, and is the address right (--base-url)? Then run it again"
        )
    return StoppedError(f"{endpoint} {what}: {count:,} attempts in a row failed. The last: {failure.message}", fix)


def _refused(endpoint: str, model: str, failure: Failure) -> SightlineError:
    if failure.kind == "auth":
        return UserError(f"the key is refused. {failure.message}", "set the right API key, and run it again")
    if failure.kind == "unknown-model":
        return UserError(f'there is no model "{model}" at {endpoint}. {failure.message}', "choose another --model")
    return StoppedError(f"the account has no credit left. {failure.message}", f"top it up; {RESUME_HINT}")


def _never_accepted(endpoint: str, count: int, failure: Failure) -> UserError:
    return UserError(
        f"{endpoint} refused all of the first {count} requests. The last: {failure.message}",
        "change the parameters that it names, or choose another --model",
    )


def _asks_for_long_rest(endpoint: str, seconds: float) -> StoppedError:
    wait = f"{seconds / 3600:.1f} hours" if seconds >= 7200 else f"{seconds / 60:.0f} minutes"
    return StoppedError(f"{endpoint} asks to wait {wait} before the next call.", f"{RESUME_HINT}, then")
