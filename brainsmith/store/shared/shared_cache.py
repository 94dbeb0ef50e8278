"""A shared cache as its users see it: what it has, at once or not at all, and never an error.

A server that cannot be used costs one time limit and one warning, and is not asked again for a while.
"""

from __future__ import annotations

import sys
import time

from brainsmith import TYPE_CHECKING
from brainsmith.errors import SettingsError, SharedCacheError
from brainsmith.forks import lock_of
from brainsmith.harmless import harmless
from brainsmith.store.shared.deadline import Deadline
from brainsmith.store.shared.envelope import LARGEST, DamagedEntryError, opened, sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Protocol, TypeVar

    T = TypeVar("T")

    class Named(Protocol):
        """The settings that name a shared cache."""

        shared_cache: str | None
        shared_cache_mode: str
        shared_cache_timeout: float

    class SharedServer(Protocol):
        """Where entries lie."""

        def get(self, key: str, deadline: Deadline) -> bytes | None:
            """Return what lies under a key; None if nothing does."""

        def put(self, key: str, data: bytes, deadline: Deadline) -> None:
            """Write under a key."""

        def keys(self, prefix: str, deadline: Deadline) -> Iterator[str]:
            """Yield the keys that begin with a text."""

        def close(self) -> None:
            """End the connection."""


FORM = "brainsmith/1"
"""What all keys begin with: another form of entries has another one."""

REST = 60.0
"""Seconds for which a server is not asked after it failed."""

PATIENCE = 10.0
"""Seconds that one answer may take where the user asks for it (`cache push`, `cache pull`)."""

HERE, THERE = "already here", "already there"
"""Why an entry is not copied from a shared cache, or to it."""

_KNOWN: dict[tuple[str, bool, float], SharedCache] = {}


class SharedCache:
    """A shared cache. All methods may be called from any thread.

    Args:
        url: `redis://...`, or what fsspec takes.
        read_only: Whether nothing is written.
        limit: Seconds that an answer may take.

    Attributes:
        hits: The entries that were found and whole.
        misses: How often there was none.
        refused: The entries that were not what they had to be.
        written: The entries that were written.
        failures: How often the server could not be used.
        failure: Why it could not, the last time.
    """

    def __init__(self, url: str, read_only: bool = False, limit: float = 0.04) -> None:
        self.url = url
        self.read_only = read_only
        self.limit = limit
        self.hits = self.misses = self.refused = self.written = self.failures = 0
        self.failure: SharedCacheError | None = None
        self._server: SharedServer | None = None
        self._rests_until = 0.0
        self._is_waited_for = False
        self._warned: set[str] = set()
        self._lock = lock_of(self, SharedCache._start_anew)

    @property
    def shown(self) -> str:
        """Its address, without name and password."""
        return shown_address(self.url)

    @property
    def is_resting(self) -> bool:
        """Whether it failed a short while ago, and is not asked."""
        return time.monotonic() < self._rests_until

    def get(self, kind: str, key: str) -> bytes | None:
        """Return the content of an entry; None if there is none, it is damaged, or the server cannot be used."""
        with self._lock:
            if self.is_resting:
                return None
            try:
                return self.read(kind, key, self.limit)
            except SharedCacheError as error:
                self._fail(error)
                return None

    def put(self, kind: str, key: str, content: bytes) -> bool:
        """Write an entry; False if it was not: what is too large, a cache that is only read, or a server that failed."""
        if self.read_only or len(content) > LARGEST:
            return False
        with self._lock:
            if self.is_resting:
                return False
            try:
                self.write(kind, key, content, self.limit)
            except SharedCacheError as error:
                self._fail(error)
                return False
            return True

    def read(self, kind: str, key: str, limit: float = PATIENCE) -> bytes | None:
        """Return the content of an entry; None if there is none, or it is damaged.

        Raises:
            SharedCacheError: The server cannot be used; it is named.
        """
        data = self._ask(lambda server: server.get(place_of(kind, key), Deadline(limit)))
        if data is None:
            self.misses += 1
            return None
        try:
            content = opened(kind, key, data)
        except DamagedEntryError as error:
            self.refuse(kind, key, str(error))
            return None
        self.hits += 1
        return content

    def write(self, kind: str, key: str, content: bytes, limit: float = PATIENCE) -> None:
        """Write an entry.

        Raises:
            SharedCacheError: The server cannot be used; it is named.
        """
        data = sealed(kind, key, content)
        self._ask(lambda server: server.put(place_of(kind, key), data, Deadline(limit)))
        self.written += 1

    def keys(self, kind: str) -> list[str]:
        """Return the keys of a kind.

        Raises:
            SharedCacheError: The server cannot be used; it is named.
        """
        start = place_of(kind, "")
        found = self._ask(lambda server: list(server.keys(start, Deadline(PATIENCE))))
        return [name.removeprefix(start) for name in found if name.startswith(start)]

    def refuse(self, kind: str, key: str, reason: str) -> None:
        """Count an entry that is not used, and warn of the first one."""
        self.refused += 1
        self._warn("refused", f"{self.shown}: the entry {kind}/{key[:12]} is not used: {reason}")

    def wait_for_it(self) -> None:
        """Give it time from now on, for a user who asked for it; a failure is then no warning, but that command's error."""
        self.limit, self.failure, self._rests_until, self._is_waited_for = PATIENCE, None, 0.0, True

    def close(self) -> None:
        """End the connection."""
        with self._lock:
            if self._server is not None:
                self._server.close()

    def _ask(self, work: Callable[[SharedServer], T]) -> T:
        try:
            if self._server is None:
                self._server = _server_of(self.url)
            return work(self._server)
        except (OSError, EOFError) as error:
            text = (
                str(error)
                if isinstance(error, SharedCacheError)
                else str(getattr(error, "strerror", "") or error)
            )
            raise SharedCacheError(f"the shared cache {self.shown} cannot be used: {text}") from None

    def _fail(self, error: SharedCacheError) -> None:
        self.failures += 1
        self.failure = error
        self._rests_until = time.monotonic() + REST
        if not self._is_waited_for:
            self._warn("failed", f"{error}; this run goes on without it")

    def _warn(self, what: str, text: str) -> None:
        """Warn once in this process: by the logger `brainsmith.store`, or as it does where nobody has imported logging."""
        if what in self._warned:
            return
        self._warned.add(what)
        text = harmless(text)  # of what somebody wrote there
        logging = sys.modules.get("logging")  # importing it takes longer than the server may
        if logging is not None:
            logging.getLogger("brainsmith.store").warning("%s", text)
        elif sys.stderr is not None:
            print(text, file=sys.stderr)

    def _start_anew(self) -> None:
        """Leave the connection to the thread of the parent that was just using it."""
        self._server = None


def shared_cache(settings: Named) -> SharedCache:
    """Return the shared cache that the settings name: one for this process, which knows whether it failed just now.

    Raises:
        SettingsError: They name none.
    """
    if settings.shared_cache is None:
        raise SettingsError(
            "no shared cache is named\n  set shared_cache in .brainsmith/config.yaml, or BRAINSMITH_SHARED_CACHE, to an "
            "address such as redis://HOST:PORT or file:///FOLDER"
        )
    known = (settings.shared_cache, settings.shared_cache_mode == "read-only", settings.shared_cache_timeout)
    if known not in _KNOWN:
        _KNOWN[known] = SharedCache(*known)
    return _KNOWN[known]


def patient_cache(settings: Named) -> SharedCache:
    """Return the shared cache that the settings name, from now on with patience, for a command that copies.

    Raises:
        SettingsError: They name none.
    """
    cache = shared_cache(settings)
    cache.wait_for_it()
    return cache


def place_of(kind: str, key: str) -> str:
    """Return the name of an entry on the server."""
    return f"{FORM}/{kind}/{key}"


def shown_address(url: str) -> str:
    """Return an address without name and password."""
    scheme, slashes, rest = url.partition("://")
    return f"{scheme}{slashes}{rest.rpartition('@')[2]}"


def _server_of(url: str) -> SharedServer:
    """Return the server of an address, to which nothing is sent yet."""
    if url.startswith("redis://"):
        from brainsmith.store.shared.redis_server import RedisServer  # one of the two

        return RedisServer(url)
    from brainsmith.store.shared.file_system import FileSystem  # the other one

    return FileSystem(url)
