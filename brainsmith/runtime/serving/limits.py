"""How much a server does at once, and for how long."""

from __future__ import annotations

import math
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BrainsmithError, UsageError
from brainsmith.runtime.serving.protocol import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Limits:
    """What one request may take, and how many are worked on at once.

    Attributes:
        megabytes: Of the body of a request.
        seconds: From its head to the answer; and how long a connection may be idle.
        requests: How many are worked on at once; others wait, within their time. Of all that are read or wait, the bodies
            have together at most as many bytes as this many of the longest.
        connections: How many clients may be connected; further ones are sent away.

    Raises:
        UsageError: A limit is not above 0.
    """

    megabytes: float = 64.0
    seconds: float = 30.0
    requests: int = 4
    connections: int = 64

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0 < value < math.inf:
                raise UsageError(f"the limit of {name} must be a number above 0, not {value!r}")

    @property
    def body_bytes(self) -> int:
        """The longest body."""
        return int(self.megabytes * MEGABYTE)

    @property
    def read_bytes(self) -> int:
        """How many bytes the bodies have together that are read, or wait to be worked on."""
        return self.requests * self.body_bytes


class Places:
    """The places in which requests are worked on.

    Args:
        count: How many there are.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._free = threading.BoundedSemaphore(count)

    def take(self, seconds: float) -> None:
        """Take a place, waiting for one.

        Raises:
            RefusedError: None became free.
        """
        if not self._free.acquire(timeout=seconds):
            raise RefusedError(
                503,
                f"no place for a request became free within {seconds:.3g} s ({self.count} in all): try again later",
                headers={"Retry-After": "1"},
            )

    def give(self) -> None:
        """Give a place back."""
        self._free.release()

    def all_free_within(self, seconds: float) -> bool:
        """Wait until nothing is being worked on; return whether that came. Afterwards there is no place any more."""
        deadline = threading.Event()
        timer = threading.Timer(seconds, deadline.set)
        timer.daemon = True
        timer.start()
        taken = 0
        while taken < self.count and not deadline.is_set():
            taken += self._free.acquire(timeout=0.05)
        timer.cancel()
        return taken == self.count


class Room:
    """The memory in which the bodies of requests are read, and wait to be worked on.

    Args:
        count: Its bytes.
    """

    def __init__(self, count: int) -> None:
        self._left = self.count = count
        self._changed = threading.Condition()

    @contextmanager
    def of(self, count: int, seconds: float) -> Iterator[None]:
        """Have some bytes of it as long as this lasts, waiting for them.

        Args:
            count: How many; no more than there are.
            seconds: How long they are waited for.

        Raises:
            RefusedError: They did not become free.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._left >= count, seconds):
                raise RefusedError(
                    503,
                    f"no room for a request of {count:,} bytes came within {seconds:.3g} s, because others are being read: "
                    "try again later",
                    headers={"Retry-After": "1"},
                )
            self._left -= count
        try:
            yield
        finally:
            with self._changed:
                self._left += count
                self._changed.notify_all()


class Job:
    """A piece of work in a thread of its own, which nobody has to wait for.

    Python cannot end a thread: work that takes too long goes on, and so keeps its place.

    Args:
        work: What is done.
        done: Called when it is over.
    """

    def __init__(self, work: Callable[[], Any], done: Callable[[], None]) -> None:
        self._work, self._done = work, done
        self._over = threading.Event()
        self._result: Any = None
        self._error: BaseException | None = None
        threading.Thread(target=self._run, name="brainsmith-request", daemon=True).start()

    def result(self, seconds: float, limit: float) -> Any:
        """Return what it returned, or raise what it raised.

        Args:
            seconds: How long it is waited for.
            limit: What the message says of that.

        Raises:
            BrainsmithError: What it raised.
            RefusedError: It is not over, or raised something else.
        """
        if not self._over.wait(seconds):
            raise RefusedError(
                504,
                f"the target was not done within {limit:g} s; it goes on, so the same request may succeed later; "
                "--timeout of the server allows more",
            )
        error = self._error
        if isinstance(error, BrainsmithError):
            raise error
        if error is not None:  # of which some would end this thread, or look as if the connection were broken
            raise RefusedError(500, f"it failed: {type(error).__name__}: {error}", "TargetError") from error
        return self._result

    def _run(self) -> None:
        try:
            self._result = self._work()
        except BaseException as error:  # noqa: BLE001  (it is raised where the result is asked for)
            self._error = error
        finally:
            self._done()
            self._over.set()
