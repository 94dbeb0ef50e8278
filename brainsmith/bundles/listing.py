"""The list of the bundles in this process, and questions about it."""

from __future__ import annotations

import time
from _thread import RLock, get_ident
from typing import TYPE_CHECKING, ClassVar

from brainsmith.close_names import did_you_mean
from brainsmith.errors import BundleClashError, BundleError, PluginNotFoundError
from brainsmith.forks import lock_of
from brainsmith.plugin.records import RecordList

if TYPE_CHECKING:
    from brainsmith.bundles.bundle import Bundle, BundleInfo
    from brainsmith.bundles.life_cycle import LoadedBundle

WAIT_SECONDS = 30.0
"""How long a thread waits for what another one is doing with a bundle."""


class BundleList:
    """The bundles that are there, or are just being registered, replaced or removed."""

    _entries: ClassVar[dict[str, LoadedBundle]] = {}
    _lock: ClassVar[RLock] = lock_of()

    def list_plugins(self) -> RecordList:
        """Return the records of the registered bundles, in the order in which they were registered."""
        with self._lock:
            entries = self._entries.values()
            return RecordList(entry.record for entry in entries if entry.settled or entry.removed)

    def is_registered(self, name: str) -> bool:
        """Tell whether a bundle of this name is registered."""
        with self._lock:
            entry = self._entries.get(name)
            return entry is not None and (entry.settled or entry.removed)

    def get_plugin(self, name: str) -> Bundle:
        """Return the registered bundle of a name.

        Raises:
            PluginNotFoundError: No bundle has this name; close names are suggested.
        """
        return self.entry(name).bundle

    def entry(self, name: str) -> LoadedBundle:
        """Return a registered bundle with what is known of it; see `get_plugin`."""
        with self._lock:
            entry = self._entries.get(name)
            if entry is None or not (entry.settled or entry.removed):
                names = list(self._settled())
                raise PluginNotFoundError(
                    f"no bundle named {name!r} is registered{did_you_mean(str(name), names)}\n"
                    f"  registered are: {', '.join(names) or 'none'}"
                )
            return entry

    def wait_for(self, name: str) -> bool:
        """Tell whether a bundle is there to be used, after what another thread is doing with it has ended."""
        until = time.monotonic() + WAIT_SECONDS
        while True:
            with self._lock:
                entry = self._entries.get(name)
                if entry is None or entry.removed:
                    return False
                if entry.worker is None:
                    return entry.settled
                if entry.worker == get_ident() or time.monotonic() > until:
                    return False
            time.sleep(0.002)

    def holds(self, bundle: Bundle) -> bool:
        """Tell whether this very object is registered."""
        entry = self._entries.get(bundle.info.name)
        return entry is not None and entry.settled and entry.bundle is bundle

    def check_free(self, info: BundleInfo) -> None:
        """Check that no bundle of this name is registered.

        Raises:
            BundleClashError: One is.
        """
        here = self._entries.get(info.name)
        if here is not None and here.removed:
            raise BundleClashError(
                f"bundle '{info}' cannot be registered: the library of '{here.bundle}' is not unloaded yet; "
                "unload it again first"
            )
        if here is not None:
            raise BundleClashError(
                f"bundle '{info}' cannot be registered: '{here.bundle}' is registered already; remove it first"
            )

    def _forget(self, entry: LoadedBundle) -> None:
        name = entry.bundle.info.name
        with self._lock:
            if self._entries.get(name) is entry:
                del self._entries[name]

    def _settled(self) -> dict[str, BundleInfo]:
        """Return the bundles that others can need: all but those that are just being registered or removed."""
        usable = [entry for entry in self._entries.values() if entry.settled and entry.worker is None]
        return {entry.bundle.info.name: entry.bundle.info for entry in usable}

    def _free_entry(self, name: str, what: str) -> LoadedBundle:
        """Return the entry of a bundle that can be replaced or removed."""
        entry = self.entry(name)
        if entry.settled and entry.worker is not None:
            raise BundleError(
                f"bundle '{entry.bundle}' cannot be {what}: it is being replaced at this moment"
            )
        if entry.removed and what == "replaced":
            raise BundleError(
                f"bundle '{entry.bundle}' cannot be replaced: its library is still loaded; unload it again first"
            )
        return entry
