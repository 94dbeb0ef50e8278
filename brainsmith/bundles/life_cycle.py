"""Enter a bundle into the registry of plugins and remove it again: completely, or not at all."""

from __future__ import annotations

from _thread import get_ident
from typing import TYPE_CHECKING, Any

from brainsmith.bundles.contributions import Contribution, adopted, op_of, plugin_of
from brainsmith.errors import BundleClashError, BundleDefinitionError, BundleError, DuplicatePluginError
from brainsmith.figures import plural
from brainsmith.plugin.adapters.plugin_json import bundle_record
from brainsmith.plugin.core import get_registry
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.journal import Journal
from brainsmith.plugin.log import debug
from brainsmith.plugin.node_claims import enter_operator, leave_operator
from brainsmith.plugin.plugin_loading import describe_error
from brainsmith.plugin.plugin_registry import REGISTRY
from brainsmith.plugin.precedence import ADAPTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager

    from brainsmith.autodiff.op import Op
    from brainsmith.bundles.bundle import Bundle

Registered = tuple[PluginInfo, Any]
"""A record with its object."""


class LoadedBundle:
    """A bundle in the registry of bundles, with all that it changed in the one registry.

    Attributes:
        bundle: The bundle.
        settled: Whether it is registered, and not just being registered or removed.
        found: What decorators registered while the bundle's file was imported.
        removed: Whether its plugins are removed from the registry, but its library could not be closed yet.
        worker: The thread that registers, replaces or removes it; None while nobody does.
        source: What it was loaded from; None for one that was registered as an object.
        inner: The names of bundles that its functions registered.
        record: Its record of type `bundle`.
    """

    def __init__(self, bundle: Bundle, found: Sequence[Registered] = (), source: Any = None) -> None:
        self.bundle = bundle
        self.settled = False
        self.removed = False
        self.worker: int | None = get_ident()
        self.found = tuple(found)
        self.source = source
        self.inner: list[str] = []
        name = bundle.info.name
        self.record = bundle_record(vars(bundle.info), name, f"{name}:{name}", bundle.origin, {})
        self._brought: list[Contribution] = []
        self._former_owners: list[tuple[Op, str, str]] = []
        self._journal = Journal()
        self._initialised = False

    def enter(self, lock: AbstractContextManager[Any], old: LoadedBundle | None = None) -> None:
        """Run the bundle's functions, and enter all that it brings.

        Args:
            lock: Held while names are checked and taken; not while functions run.
            old: Another version of the bundle, whose place this one takes in one moment; its functions do not run.

        Raises:
            BundleError: A function failed, or gave what cannot be registered. The one registry is as before.
            BundleClashError: A name is taken. Likewise.
        """
        bundle = self.bundle
        with REGISTRY.recording(self._journal):
            try:
                self._call("initialise", bundle.initialize_fn, get_registry())
                self._initialised = True
                brought = self._gather()
                with lock:
                    records = get_registry().records()
                    with REGISTRY.held():
                        self._swap(old, brought, records) if old else self._enter_all(brought, records)
            except BaseException as error:  # also what interrupts it leaves nothing half registered
                self._roll_back(error)
                raise
        for item in self._brought:
            enter_operator(item.info, item.obj)
        debug("bundle %s: registered with %s", bundle, plural(len(self._brought), "plugin"))

    def leave(self) -> None:
        """Run the bundle's clean-up, and take out all that it brought, whatever the clean-up does.

        Raises:
            BundleError: The clean-up failed. Everything is taken out all the same.
        """
        try:
            with REGISTRY.recording(self._journal):
                self._call_cleanup()
        except (Exception, SystemExit) as error:  # the user's code may even exit
            debug("bundle %s: clean-up failed: %s", self.bundle, error)
            raise BundleError(
                f"bundle '{self.bundle}' is removed, but its clean-up function raised {describe_error(error)}"
            ) from error
        finally:
            self._take_out()
            debug("bundle %s: removed", self.bundle)

    def _call(self, what: str, function: Callable[..., Any] | None, *arguments: Any) -> Any:
        if function is None:
            return None
        debug("bundle %s: calling its %s function", self.bundle, what)
        try:
            return function(*arguments)
        except (Exception, SystemExit) as error:  # likewise
            raise BundleError(
                f"bundle '{self.bundle}' cannot be registered: its {what} function raised {describe_error(error)}"
            ) from error

    def _gather(self) -> list[Contribution]:
        """Return all that the bundle brings: what was registered for it, its ops, its other plugins; each once."""
        bundle = self.bundle
        registered = [*self.found, *take_registered(self._journal)]
        brought = [adopted(bundle, info, obj) for info, obj in registered]
        seen = {id(item.given) for item in brought}
        ops = self._list("custom operations", bundle.custom_operations_fn, "ops")
        plugins = self._list("plugins", bundle.plugins_fn, "(type, object, keywords)")
        brought.extend(op_of(bundle, op) for op in ops if id(op) not in seen)
        brought.extend(item for item in (plugin_of(bundle, p) for p in plugins) if id(item.given) not in seen)
        return brought

    def _list(self, what: str, function: Callable[[], Iterable[Any]] | None, of: str) -> Iterable[Any]:
        given = self._call(what, function)
        if function is not None and not isinstance(given, list | tuple):
            raise BundleError(
                f"bundle '{self.bundle}' cannot be registered: its {what} function must return a list of {of}, "
                f"not {given!r}"
            )
        return given or ()

    def _swap(self, old: LoadedBundle, brought: list[Contribution], records: Iterable[PluginInfo]) -> None:
        back = REGISTRY.undo(old._journal)
        try:
            self._enter_all(brought, [info for info in records if info.framework != self.bundle.info.name])
        except BaseException:  # also what interrupts it leaves the old bundle's plugins
            self._take_out()
            old._journal = REGISTRY.undo(back)
            raise
        old._take_out()
        self._mark()

    def _enter_all(self, brought: list[Contribution], records: Sequence[PluginInfo]) -> None:
        ops = {info.name: info for info in records if info.type == "op" and info.framework not in ADAPTED}
        owners = {(info.type, info.reference): info for info in records}
        for item in brought:
            info = item.info
            self._check_owner(item, records)
            rival = ops.get(info.name) if info.type == "op" else owners.get((info.type, info.reference))
            if rival is not None:
                from brainsmith.autodiff.op_registry import exists_already

                raise self._clash(exists_already(info, rival))
            try:
                REGISTRY.register(info, item.obj)
            except DuplicatePluginError as error:
                raise self._clash(str(error)) from None
            if info.type == "op":
                ops[info.name] = info
            self._brought.append(item)
        self._check_offer()
        self.record = self._own_record(records)
        REGISTRY.register(self.record, self.bundle)
        self._mark()

    def _mark(self) -> None:
        """Let the ops be known as the bundle's, under the names that they have in it."""
        for item in self._brought:
            if item.info.type == "op":
                op = item.obj
                self._former_owners.append((op, op.name, op.bundle))
                op.name, op.bundle = item.info.name, self.bundle.info.name

    def _check_owner(self, item: Contribution, records: Iterable[PluginInfo]) -> None:
        """Check that no other bundle has an op: it can have one name, and belong to one bundle."""
        owner = getattr(item.obj, "bundle", "") if item.info.type == "op" else ""
        for info in records if owner else ():
            if info.framework != owner or info.type != "op" or owner == self.bundle.info.name:
                continue
            if REGISTRY.is_loaded(info) and REGISTRY.load(info) is item.obj:
                raise self._clash(
                    f"the op {info.name!r} is one of the bundle {owner!r}; register another object"
                )

    def _check_offer(self) -> None:
        """Check that the bundle brings every op that its `plugin.json` offers."""
        ops = {item.info.name for item in self._brought if item.info.type == "op"}
        missing = [name for name in getattr(self.source, "ops", ()) if name not in ops]
        if missing:
            raise BundleDefinitionError(
                f"{self.source.path}: the bundle '{self.bundle}' does not bring the op {missing[0]!r}, "
                f"which is among its ops; it brings {', '.join(sorted(ops)) or 'none'}"
            )

    def _clash(self, why: str) -> BundleClashError:
        return BundleClashError(f"bundle '{self.bundle}' cannot be registered: {why}")

    def _own_record(self, records: Sequence[PluginInfo]) -> PluginInfo:
        """Return the record that discovery made of the bundle's `plugin.json`, or one of its own."""
        path = getattr(self.source, "path", None)
        for info in records:
            if info.type == "bundle" and path is not None and info.extra.get("path") == path:
                return info
        ops = tuple(item.info.name for item in self._brought if item.info.type == "op")
        stated = {"ops": ops, "path": path} if path else {"ops": ops}
        return self.record.replace(extra={**self.record.extra, **stated})

    def _roll_back(self, error: BaseException) -> None:
        debug("bundle %s: rolling back", self.bundle)
        try:
            if self._initialised:
                self._call_cleanup()
        except (Exception, SystemExit) as failure:  # noqa: BLE001  (what made registering fail is raised, and says this too)
            add_to_message(
                error, f"the clean-up function of bundle '{self.bundle}' raised {describe_error(failure)}"
            )
        finally:
            self._take_out()

    def _call_cleanup(self) -> None:
        self._initialised = False
        if self.bundle.cleanup_fn is not None:
            debug("bundle %s: calling its clean-up function", self.bundle)
            self.bundle.cleanup_fn(get_registry())

    def _take_out(self) -> None:
        brought = [(item.info, item.obj) for item in self._brought]
        take_back(self._journal)
        for info, obj in brought:
            leave_operator(info, obj)
        for op, name, owner in reversed(self._former_owners):
            op.name, op.bundle = name, owner
        self._former_owners.clear()
        self._brought.clear()


def take_registered(journal: Journal) -> list[Registered]:
    """Return what decorators and calls registered for the project, and take it out of the one registry."""
    found = [(info, REGISTRY.load(info)) for info in journal.entered() if info.framework == "project"]
    for info, obj in found:
        REGISTRY.unregister(info.type, info.qualified)
        leave_operator(info, obj)
    return found


def take_back(journal: Journal) -> None:
    """Undo what was registered, also in the tables that frameworks keep of their operators."""
    for info in journal.entered():
        if REGISTRY.is_loaded(info):
            leave_operator(info, REGISTRY.load(info))
    REGISTRY.undo(journal)


def add_to_message(error: BaseException, text: str) -> None:
    """Let an error that is on its way say one thing more."""
    if isinstance(error, BundleError):
        error.args = (f"{error}\n  {text}",)
    else:
        error.add_note(text)
