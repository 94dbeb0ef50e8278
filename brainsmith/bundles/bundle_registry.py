"""Bundles are registered, replaced and removed."""

from __future__ import annotations

from _thread import _local, get_ident
from typing import TYPE_CHECKING, Any, ClassVar

from brainsmith.bundles.bundle import Bundle
from brainsmith.bundles.compatibility import check_host, check_needs, check_not_needed, check_still_serves
from brainsmith.bundles.life_cycle import LoadedBundle, add_to_message
from brainsmith.bundles.listing import BundleList
from brainsmith.errors import (
    BundleDefinitionError,
    BundleDependencyError,
    BundleError,
    PluginNotFoundError,
)
from brainsmith.plugin.log import debug
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.plugin_loading import describe_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brainsmith.bundles.life_cycle import Registered
    from brainsmith.plugin.info import PluginInfo


class BundleRegistry(BundleList):
    """The bundles of this process. All objects of this class are views of the same one; threads may share it.

    No lock is held while a bundle's functions run, so they may register bundles themselves.
    """

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

    def enter(self, bundle: Bundle, found: Sequence[Registered] = (), source: Any = None) -> LoadedBundle:
        """Register a bundle that was loaded from a file; see `register`.

        Args:
            bundle: The bundle.
            found: What decorators registered while its file was imported.
            source: What it was loaded from.
        """
        entry = LoadedBundle(bundle, found, source)
        info = bundle.info
        debug("bundle %s: checking versions and dependencies", info)
        check_host(info)
        for name, _ in info.depends_on:
            self.wait_for(name)
        with self._lock:
            self.check_free(info)
            check_needs(info, self._settled())
            self._entries[info.name] = entry
        try:
            self._run(entry)
        except BaseException:  # also what interrupts it leaves the list as it was
            self._forget(entry)
            raise
        return entry

    def _run(self, entry: LoadedBundle, old: LoadedBundle | None = None) -> None:
        """Let a bundle enter; bundles that its functions register are removed again if it fails."""
        outer: LoadedBundle | None = getattr(self._running, "entry", None)
        self._running.entry = entry
        try:
            entry.enter(self._lock, old)
        except BaseException as error:  # what its functions registered goes with it, however it ended
            self.remove_all(reversed(entry.inner), error)
            raise
        finally:
            self._running.entry = outer
        entry.settled, entry.worker = True, None
        if outer is not None:
            outer.inner.append(entry.bundle.info.name)

    def unregister(self, name: str) -> None:
        """Remove a bundle: run its clean-up once, take out all that it brought, and close its library.

        Where that fails or is interrupted, the bundle stays in the list, and a second call closes its library.

        Raises:
            PluginNotFoundError: None of this name is registered; close names are suggested.
            BundleDependencyError: Another bundle needs it.
            BundleError: Its clean-up failed, and the bundle is removed all the same; or its library is in use.
        """
        if self.is_registered(name):
            self.wait_for(name)  # it may just be replaced
        with self._lock:
            entry = self._free_entry(name, "removed")
            check_not_needed(name, [other.bundle.info for other in self._entries.values()])
            entry.settled, entry.worker = False, get_ident()
        try:
            if not entry.removed:
                entry.leave()
        except BaseException as error:  # a clean-up that fails or is interrupted still closes the library
            entry.removed = True
            try:
                self._close(entry)
            except BundleError as failure:
                add_to_message(error, str(failure))
            raise
        entry.removed = True
        self._close(entry)

    def _close(self, entry: LoadedBundle) -> None:
        """Close a bundle whose plugins are out of the registry, and forget it once that is done."""
        try:
            entry.bundle.close()
        except BundleError as error:
            add_to_message(
                error, f"the plugins of '{entry.bundle}' are removed; unload it again to close its library"
            )
            raise
        finally:
            entry.worker = None
        self._forget(entry)

    def replace(self, name: str, bundle: Bundle, found: Sequence[Registered], source: Any) -> LoadedBundle:
        """Let another bundle of the same name take a bundle's place.

        Where the old one has no clean-up and the new one no initialise function, that is one moment: whoever looks
        an op up meanwhile finds the old or the new one. Else the old one leaves before the new one enters. The list
        of bundles has the old or the new one at each moment. The old one's library is left open.

        Raises:
            BundleError: The new one cannot be registered, or the old one's clean-up failed. The old one is there as
                before; if it had left, it is initialised again for that.
        """
        check_host(bundle.info)
        for need in (name, *(need for need, _ in bundle.info.depends_on)):
            self.wait_for(need)
        with self._lock:
            old = self._free_entry(name, "replaced")
            others = {n: info for n, info in self._settled().items() if n != name}
            check_needs(bundle.info, others)
            check_still_serves(bundle.info, [entry.bundle.info for entry in self._entries.values()])
            old.worker = get_ident()
        new = LoadedBundle(bundle, found, source)
        at_once = old.bundle.cleanup_fn is None and bundle.initialize_fn is None
        try:
            if not at_once:
                old.leave()
            self._run(new, old if at_once else None)
            self._entries[name] = new
        except BaseException as error:  # also what interrupts it leaves the old bundle there
            if not at_once and self._entries[name] is old:
                self._restore(old, error)
            raise
        finally:
            old.worker = None
        return new

    def _restore(self, old: LoadedBundle, error: BaseException) -> None:
        """Register again what could not be replaced; if that fails too, it stays removed, and the error says so."""
        name = old.bundle.info.name
        again = LoadedBundle(old.bundle, old.found, old.source)
        old.bundle.resume()
        try:
            self._run(again)
        except BaseException as failure:  # the bundle stays removed, and the first error says so
            add_to_message(error, f"'{old.bundle}' is not registered any more: {describe_error(failure)}")
            old.settled, old.removed = False, True
            try:
                self._close(old)
            except BundleError as open_still:
                add_to_message(error, str(open_still))
            if not isinstance(failure, BundleError):
                raise
            return
        with self._lock:
            self._entries[name] = again

    def remove_all(self, names: Iterable[str], error: BaseException) -> None:
        """Remove bundles because of an error, in order; clean-ups that fail are added to what it says."""
        for name in names:
            try:
                self.unregister(name)
            except (PluginNotFoundError, BundleDependencyError):  # another thread has removed it, or needs it
                continue
            except BundleError as failure:
                add_to_message(error, str(failure))

    def clear(self) -> None:
        """Remove all bundles, the last registered first; a clean-up that fails does not stop it.

        Raises:
            BundleError: Clean-ups failed: all of them are reported.
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


BUNDLES = BundleRegistry()
"""The registered bundles, as the functions of `brainsmith.plugins` see them."""

get_plugin_manager().before_reset(BUNDLES.clear)
