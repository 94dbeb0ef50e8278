"""One instance of a target with its life: initialised once, used by any number of threads, cleaned up once."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager, nullcontext
from threading import Condition, Event, get_ident
from time import perf_counter
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BrainsmithError, DeviceError, InputError, TargetError
from brainsmith.forks import in_children, lock_of
from brainsmith.plugin.plugin_loading import describe_error
from brainsmith.runtime.capabilities import Capabilities
from brainsmith.runtime.prepared_cache import PreparedCache
from brainsmith.runtime.profile import Meter
from brainsmith.runtime.target_log import note, warn
from brainsmith.runtime.thread_calls import enter, leave, wait_for_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.runtime.target import Target

MADE, STARTING, READY, CLOSING, CLOSED = "made", "starting", "ready", "closing", "closed"
"""The states, in their order. An instance whose `initialize` raised is closed."""

_REPORTED = (InputError, TargetError, DeviceError)
"""Errors with a whole message: they are passed on as they are."""

_LIVE = "_brainsmith_live"


def live_target_of(target: Target) -> LiveTarget | None:
    """Return what guards an instance; None for one that was not made by the registry."""
    live: LiveTarget | None = getattr(target, _LIVE, None)
    return live


class LiveTarget:
    """Guards one instance: its states, its holders, and the calls that are running in it.

    A holder keeps it initialised; when the last holder releases it, it is cleaned up, after the calls that still run. A
    closed instance is never used again: another one is made.

    Args:
        info: The record.
        target: The instance.
        key: Stands for the target and its arguments.
        device_id: Which of several devices it is; 0 for a target that knows none.
        needs: Returns the targets that it depends on, held; called before `initialize`.
        on_closed: Called when the instance is closed.

    Attributes:
        capabilities: What the target stated when it was initialised.
        prepared: What it has prepared.
        meter: What it took.
    """

    def __init__(
        self,
        info: PluginInfo,
        target: Target,
        key: str,
        device_id: int,
        needs: Callable[[], dict[str, LiveTarget]],
        on_closed: Callable[[LiveTarget], None],
    ) -> None:
        self.info = info
        self.target = target
        self.key = key
        self.device_id = device_id
        self.capabilities = Capabilities()
        self.prepared = PreparedCache()
        self.meter = Meter(info.name, device_id)
        self._needs, self._on_closed = needs, on_closed
        self._needed: dict[str, LiveTarget] = {}
        self._gate = lock_of(waits=False)
        self._ended = Event()
        self._calls = Condition(lock_of())
        self._running: Counter[int] = Counter()
        self._turn: AbstractContextManager[Any] = lock_of(waits=False)
        self._holders = 0
        self._changing = 0
        self.state = MADE
        setattr(target, _LIVE, self)
        in_children(self, LiveTarget._in_child)

    @property
    def is_ready(self) -> bool:
        """Whether it is initialised."""
        return self.state == READY

    @property
    def waits_for_this_thread(self) -> bool:
        """Whether its end waits for a call in which this thread is."""
        return self.state == CLOSING and get_ident() in self._running

    @property
    def name(self) -> str:
        """The target's name."""
        return self.info.name

    def hold(self) -> bool:
        """Keep the instance initialised until `release`; the first one initialises it.

        Returns:
            False if it is closed and cleaned up, and another one must be made.

        Raises:
            TargetError: Its `initialize` raised. It is closed.
        """
        while True:
            with self._gate:
                if self.state == STARTING:
                    raise TargetError(f"target '{self.name}' uses itself in its own initialize")
                if self.state == MADE:
                    self._initialize()
                if self.state == READY:
                    self._holders += 1
                    return True
                ended = self._ended
            if get_ident() in self._running:  # its end waits for this very call
                raise TargetError(self._not_ready())
            wait_for_end(ended)
            if self.state == CLOSED:
                return False

    def release(self) -> None:
        """Release it; the last holder cleans up, after the calls that still run.

        A holder that is interrupted (Ctrl-C) while it waits for these calls still holds it.

        Raises:
            TargetError: Its `cleanup` raised, or this is called from inside its own `execute`. After the first it is
                closed all the same.
        """
        with self._gate:
            if self._holders == 1 and get_ident() in self._running:
                raise TargetError(f"target '{self.name}' cannot be released from inside its own execute")
            self._holders -= 1
            if self._holders:
                return
            with self._calls:
                self.state, self._changing = CLOSING, get_ident()
        try:
            with self._calls:
                self._calls.wait_for(lambda: not self._running)
        except BaseException:
            self._stay()
            raise
        self._cleanup()

    def forget(self) -> None:
        """Let another instance be made in place of this one, which is closed."""
        self._on_closed(self)

    @contextmanager
    def use(self, doing: str) -> Iterator[None]:
        """Be in a call of the target: one of several, or the only one, as its capabilities say.

        Args:
            doing: What the message says that failed: `execute`, `prepare_resource`.

        Raises:
            TargetError: It is not initialised, or not any more; or the call raised something that is not the user's
                error.
        """
        thread = get_ident()
        with self._calls:
            if self.state != READY:
                raise TargetError(self._not_ready())
            self._running[thread] += 1
        enter(self)
        try:
            with self._turn:
                yield
        except _REPORTED:
            raise
        except (Exception, SystemExit) as error:  # a target does not end the process
            raise self._failed(doing, error) from error
        finally:
            leave(self)
            with self._calls:
                self._running[thread] -= 1
                if not self._running[thread]:
                    del self._running[thread]
                self._calls.notify_all()

    def _in_child(self) -> None:
        """Be without the threads that a fork left behind: their calls are over, and what they began is not finished."""
        for thread in [thread for thread in self._running if thread != get_ident()]:
            del self._running[thread]
        self._ended = Event()
        if self.state in (STARTING, CLOSING) and self._changing != get_ident():
            self._end()
        elif self.state == CLOSED:
            self._ended.set()

    def _initialize(self) -> None:
        self.state, self._changing = STARTING, get_ident()
        begin = perf_counter()
        doing = "initialize"
        try:
            self._needed = self._needs()
            self.target.dependencies = {name: live.target for name, live in self._needed.items()}
            self.target.initialize()
            doing = "get_capabilities"
            self.capabilities = self.target.get_capabilities()
            if self.capabilities.concurrent:
                self._turn = nullcontext()
        except BaseException as error:
            if doing != "initialize":  # it is initialised, so it must be cleaned up
                self._undo()
            self._end()
            log_all(self._release_needed())
            if isinstance(error, Exception) and not isinstance(error, _REPORTED):
                raise self._failed(doing, error) from error
            raise
        self.meter.add(initialize_seconds=perf_counter() - begin)
        self.state = READY
        note("%s initialised in %.1f ms", self, (perf_counter() - begin) * 1e3)

    def _undo(self) -> None:
        """Clean up after what came after `initialize` raised, which is the error that is reported."""
        try:
            self.target.cleanup()
        except Exception as error:  # noqa: BLE001  (a plugin may raise anything; it is logged)
            warn("%s", self._failed("cleanup", error))

    def _stay(self) -> None:
        """Undo a `release` that was interrupted; threads that wait for its end look again."""
        with self._gate, self._calls:
            self.state = READY
            self._holders += 1
            ended, self._ended = self._ended, Event()
        ended.set()

    def _cleanup(self) -> None:
        errors: list[TargetError] = []
        try:
            closing = self.prepared.close()
            errors.extend(self._failed("close of a prepared resource", error) for error in closing)
        finally:
            try:
                self.target.cleanup()
            except Exception as error:  # noqa: BLE001  (a plugin may raise anything; it is reported below)
                errors.insert(0, self._failed("cleanup", error))
            finally:
                self._end()
                errors.extend(self._release_needed())
        note("%s cleaned up", self)
        raise_first(errors)

    def _end(self) -> None:
        self.state = CLOSED
        self._on_closed(self)
        self._ended.set()

    def _release_needed(self) -> list[TargetError]:
        needed, self._needed = self._needed, {}
        return release_all(needed)

    def _failed(self, doing: str, error: BaseException) -> TargetError:
        message = str(error) if isinstance(error, BrainsmithError) else describe_error(error)
        failure = TargetError(f"target '{self.name}' failed in {doing}: {message}")
        failure.__cause__ = error
        return failure

    def _not_ready(self) -> str:
        if self.state == MADE:
            return f"target '{self.name}' is not initialised: get it from a ResourceManager, or call its switch_plugin"
        return (
            f"target '{self.name}' was released, and what it had prepared with it: prepare the resource again"
        )

    def __str__(self) -> str:
        return f"target '{self.name}' (device {self.device_id})"


def release_all(held: dict[str, LiveTarget]) -> list[TargetError]:
    """Release targets, the last one first; return what their `cleanup` raised."""
    errors = []
    for live in reversed(held.values()):
        try:
            live.release()
        except TargetError as error:
            errors.append(error)
    return errors


def log_all(errors: Sequence[TargetError]) -> None:
    """Log errors that come after the one that is raised, so that none is lost."""
    for error in errors:
        warn("%s", error)


def raise_first(errors: Sequence[TargetError]) -> None:
    """Raise the first of some errors, if there are any; the others are logged."""
    log_all(errors[1:])
    if errors:
        raise errors[0]
