"""The bundles that are registered: entered, listed and removed."""

from __future__ import annotations

from _thread import RLock, _local
from typing import TYPE_CHECKING, Any, ClassVar

from brainsmith.bundles.bundle import Bundle
from brainsmith.bundles.compatibility import check_host, check_needs, check_not_needed, check_still_serves
from brainsmith.bundles.life_cycle import Entry, add_to_message
from brainsmith.errors import BundleClashError, BundleDefinitionError, BundleError, PluginNotFoundError
from brainsmith.plugin.log import debug
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.records import RecordList

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brainsmith.bundles.bundle import BundleInfo
    from brainsmith.bundles.life_cycle import Registered
    from brainsmith.plugin.info import PluginInfo


class BundleRegistry:
    """The bundles of this process. All objects of this class are views of the same one; threads may share it.

    No lock is held while a bundle's functions run, so they may register bundles themselves.
    """

    _entries: ClassVar[dict[str, Entry]] = {}
    _lock: ClassVar[RLock] = RLock()
    _running: ClassVar[Any] = _local()

    def register(self, bundle: Bundle) -> PluginInfo:
        """Register a bundle: check its versions, run its functions, enter its ops and plugins.

        Returns:
            Its record.

        Raises:
            BundleVersionError: The host, or a bundle that it needs, has a version that will not do.
            BundleDependencyError: A bundle that it needs is not registered.
            BundleClashError: It is registered already, or a plugin has a name that is taken.
            BundleError: One of its functions failed. After any of these everything is as before.
        """
        if not isinstance(bundle, Bundle):
            raise BundleDefinitionError(
                f"only a Bundle can be registered, such as BundleBuilder()....build(), not {bundle!r}"
            )
        return self.enter(bundle).record

    def enter(self, bundle: Bundle, found: Sequence[Registered] = (), source: Any = None) -> Entry:
        """Register a bundle that was loaded from a file; see `register`.

        Args:
            bundle: The bundle.
            found: What decorators registered while its file was imported.
            source: What it was loaded from.
        """
        entry = Entry(bundle, found, source)
        info = bundle.info
        debug("bundle %s: checking versions and dependencies", info)
        check_host(info)
        with self._lock:
            self.check_free(info)
            check_needs(info, self._settled())
            self._entries[info.name] = entry
        try:
            self._run(entry)
        except BaseException:
            with self._lock:
                del self._entries[info.name]
            raise
        return entry

    def check_free(self, info: BundleInfo) -> None:
        """Check that no bundle of this name is registered.

        Raises:
            BundleClashError: One is.
        """
        here = self._entries.get(info.name)
        if here is not None:
            raise BundleClashError(
                f"bundle '{info}' cannot be registered: '{here.bundle}' is registered already; remove it first"
            )

    def _run(self, entry: Entry, old: Entry | None = None) -> None:
        """Let a bundle enter; bundles that its functions register are removed again if it fails."""
        outer: Entry | None = getattr(self._running, "entry", None)
        self._running.entry = entry
        try:
            entry.enter(self._lock, old)
        except BaseException as error:
            self.remove_all(reversed(entry.inner), error)
            raise
        finally:
            self._running.entry = outer
        entry.settled = True
        if outer is not None:
            outer.inner.append(entry.bundle.info.name)

    def unregister(self, name: str) -> None:
        """Remove a bundle: run its clean-up once, and take out all that it brought.

        Raises:
            PluginNotFoundError: None of this name is registered; close names are suggested.
            BundleDependencyError: Another bundle needs it.
            BundleError: Its clean-up failed. The bundle is removed all the same.
        """
        with self._lock:
            entry = self._entry(name)
            check_not_needed(name, [other.bundle.info for other in self._entries.values()])
            entry.settled = False
        try:
            entry.leave()
        finally:
            with self._lock:
                del self._entries[name]
            entry.bundle.close()

    def replace(self, name: str, bundle: Bundle, found: Sequence[Registered], source: Any) -> Entry:
        """Let another bundle of the same name take a bundle's place.

        Where the old one has no clean-up and the new one no initialise function, that is one moment: whoever looks
        an op up meanwhile finds the old or the new one. Else the old one leaves before the new one enters.

        Raises:
            BundleError: The new one cannot be registered, or the old one's clean-up failed. The old one is there as
                before; if it had left, it is initialised again for that.
        """
        check_host(bundle.info)
        with self._lock:
            old = self._entry(name)
            others = {n: info for n, info in self._settled().items() if n != name}
            check_needs(bundle.info, others)
            check_still_serves(bundle.info, [entry.bundle.info for entry in self._entries.values()])
            old.settled = False
        new = Entry(bundle, found, source)
        at_once = old.bundle.cleanup_fn is None and bundle.initialize_fn is None
        try:
            if not at_once:
                old.leave()
            self._run(new, old if at_once else None)
        except BaseException as error:
            if not at_once:
                self._restore(old, error)
            old.settled = True
            raise
        with self._lock:
            self._entries[name] = new
        old.bundle.close()
        return new

    def _restore(self, old: Entry, error: BaseException) -> None:
        """Register again what could not be replaced; if that fails too, it is gone, and the error says so."""
        name = old.bundle.info.name
        again = Entry(old.bundle, old.found, old.source)
        old.bundle.resume()
        try:
            self._run(again)
        except BundleError as failure:
            with self._lock:
                del self._entries[name]
            old.bundle.close()
            add_to_message(error, f"'{old.bundle}' is not registered any more: {failure}")
            return
        with self._lock:
            self._entries[name] = again

    def remove_all(self, names: Iterable[str], error: BaseException) -> None:
        """Remove bundles because of an error, in order; clean-ups that fail are added to what it says."""
        for name in names:
            try:
                self.unregister(name)
            except PluginNotFoundError:  # somebody has removed it
                continue
            except BundleError as failure:
                add_to_message(error, str(failure))

    def list_plugins(self) -> RecordList:
        """Return the records of the registered bundles, in the order in which they were registered."""
        with self._lock:
            return RecordList(entry.record for entry in self._entries.values() if entry.settled)

    def is_registered(self, name: str) -> bool:
        """Tell whether a bundle of this name is registered."""
        with self._lock:
            return name in self._settled()

    def get_plugin(self, name: str) -> Bundle:
        """Return the registered bundle of a name.

        Raises:
            PluginNotFoundError: There is none; close names are suggested.
        """
        return self.entry(name).bundle

    def entry(self, name: str) -> Entry:
        """Return a registered bundle with what is known of it; see `get_plugin`."""
        with self._lock:
            return self._entry(name)

    def clear(self) -> None:
        """Remove all bundles, the last registered first; a clean-up that fails does not stop it.

        Raises:
            BundleError: Clean-ups failed: all of them are said.
        """
        failures: list[str] = []
        for name in reversed(list(self._entries)):
            try:
                self.unregister(name)
            except BundleError as error:
                failures.append(str(error))
            except PluginNotFoundError:  # another thread was faster
                continue
        if failures:
            raise BundleError("\n".join(failures))

    def _settled(self) -> dict[str, BundleInfo]:
        return {name: entry.bundle.info for name, entry in self._entries.items() if entry.settled}

    def _entry(self, name: str) -> Entry:
        entry = self._entries.get(name)
        if entry is None or not entry.settled:
            raise PluginNotFoundError(self._not_found(name))
        return entry

    def _not_found(self, name: str) -> str:
        from difflib import get_close_matches

        names = list(self._settled())
        close = get_close_matches(str(name), names, n=1)
        hint = f". Did you mean {close[0]!r}?" if close else ""
        return f"no bundle named {name!r} is registered{hint}\n  registered are: {', '.join(names) or 'none'}"


BUNDLES = BundleRegistry()
"""The registered bundles, as the functions of `brainsmith.plugins` see them."""

get_plugin_manager().before_reset(BUNDLES.clear)
