"""The targets of the one registry: registered, found, made, and held while somebody uses them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from brainsmith.errors import (
    BrainsmithError,
    DeviceError,
    PluginDefinitionError,
    PluginNotFoundError,
    TargetError,
    TargetUnavailableError,
)
from brainsmith.plugin.core import enter, get_registry
from brainsmith.plugin.definition import keywords, make_record
from brainsmith.plugin.instance_cache import InstanceCache
from brainsmith.plugin.plugin_loading import describe_error
from brainsmith.plugin.plugin_needs import needs_of
from brainsmith.plugin.precedence import precedence
from brainsmith.plugin.records import RecordList
from brainsmith.runtime.availability import why_unavailable, why_unsupported
from brainsmith.runtime.live_target import LiveTarget, log_all, release_all
from brainsmith.runtime.resource_content import digest_of
from brainsmith.runtime.target import Target
from brainsmith.runtime.target_arguments import complete_arguments

if TYPE_CHECKING:
    import os

    from brainsmith.plugin.info import PluginInfo


class TargetRegistry:
    """A view of the one registry: its targets. What it has of its own are the instances.

    There is one instance for each name and arguments as long as somebody uses it. All methods may be called from any
    thread.
    """

    def __init__(self) -> None:
        self._instances = InstanceCache()

    def register(self, cls: type[Target], *, override: bool = False) -> PluginInfo:
        """Enter a class whose `metadata` says what `@target` would say.

        Args:
            cls: A subclass of `Target`.
            override: Take the place of another class of the same name.

        Returns:
            The record.

        Raises:
            PluginDefinitionError: It is no such class, or its metadata cannot be used.
            DuplicatePluginError: Another class has this name.
        """
        frame = sys._getframe(1)
        origin = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        if not isinstance(cls, type) or not issubclass(cls, Target):
            raise PluginDefinitionError(f"{origin}: {_NO_TARGET}, not {cls!r}")
        stated = cls.metadata()
        values = {name: stated[name] for name in keywords("target") if stated.get(name) is not None}
        record = make_record(
            "target", values, cls.__name__, "project", f"{cls.__module__}:{cls.__qualname__}", origin
        )
        record = record.replace(extra={**stated.extra, **record.extra})
        return enter(record, cls, override=override)

    def unregister(self, name: str) -> None:
        """Remove what was registered at run time under a name; managers that use it keep what they hold.

        Raises:
            PluginNotFoundError: Nothing was.
        """
        get_registry().unregister("target", name)

    def discover_plugins(self, package_path: str | os.PathLike[str]) -> RecordList:
        """Find the targets of a folder or an importable package without importing them, and enter them.

        Args:
            package_path: A folder, or a dotted name such as `acme.targets`.

        Returns:
            The records of the targets there.

        Raises:
            PluginNotFoundError: There is no such folder or package.
            PluginDefinitionError: A file there cannot be read, or a decorator is invalid.
            DuplicatePluginError: Another class has the name of one.
        """
        from brainsmith.runtime.target_discovery import find_targets

        return RecordList([enter(info, None) for info in find_targets(package_path)])

    def records(self) -> RecordList:
        """Return the records of all targets, the preferred one first: by priority, then by framework."""
        return RecordList(
            sorted(get_registry().records("target"), key=lambda i: (-i.priority, precedence(i)))
        )

    def list_plugins(self, available_only: bool = True) -> RecordList:
        """Return the records, the preferred one first; each says `available`, and `reason` where it is not.

        Args:
            available_only: Leave out those that cannot be used here.
        """
        found = []
        for info in self.records():
            reason = self.why_unavailable(info)
            if not reason or not available_only:
                found.append(info.replace(extra={**info.extra, "available": not reason, "reason": reason}))
        return RecordList(found)

    def get_info(self, name: str) -> PluginInfo:
        """Return the record of `name` or `framework:name`.

        Raises:
            DeviceError: No device has this name; all are listed. It is a PluginNotFoundError and a ValueError.
            AmbiguousPluginError, DuplicatePluginError: There are several.
        """
        try:
            return get_registry().resolve("target", name)
        except DeviceError:
            raise
        except PluginNotFoundError as error:
            from brainsmith.runtime.devices import unknown_device

            raise unknown_device(name, self.records()) from error

    def get_plugin(self, name: str, **kwargs: Any) -> Target:
        """Return the instance of a target for some constructor arguments; `device_id` is 0 unless it is given.

        It is not initialised unless a manager uses it.

        Raises:
            DeviceError: There is no such target (it is a PluginNotFoundError), or it has no such device.
            PluginLoadError, PluginDefinitionError, TargetError: It cannot be imported, is no target, or cannot be made
                with these arguments.
        """
        return self.live(self.get_info(name), kwargs).target

    def auto_select(self, device_type: str | None = None, resource: Any = None) -> Target:
        """Return the best target that can be used here: the highest priority wins.

        Args:
            device_type: Only those that serve it.
            resource: Only those that support it.

        Raises:
            DeviceError: No target serves the device type.
            TargetUnavailableError: None can be used here; each is named with its reason.
            UnsupportedResourceError: None of those supports the resource.
        """
        from brainsmith.runtime.target_choice import TargetChoice

        return TargetChoice(self, device_type).best(resource).target

    def why_unavailable(self, info: PluginInfo, arguments: dict[str, Any] | None = None) -> str:
        """Return why a target cannot be used here, and what would change that; nothing if it can, or is being used."""
        if self._is_used(info, arguments or {}):
            return ""
        return why_unavailable(info, lambda i: self.live(i, (arguments or {}) if i is info else {}))

    def _is_used(self, info: PluginInfo, arguments: dict[str, Any]) -> bool:
        try:
            return get_registry().is_loaded(info) and self.live(info, arguments).is_ready
        except BrainsmithError:
            return False

    def why_unsupported(
        self, info: PluginInfo, resource: Any, arguments: dict[str, Any] | None = None
    ) -> str:
        """Return why an available target cannot execute a resource; nothing if it can."""
        return why_unsupported(self.live(info, arguments or {}), resource)

    def live(self, info: PluginInfo, arguments: dict[str, Any]) -> LiveTarget:
        """Return the instance of a record for some arguments, made if there is none."""
        cls = get_registry().load(info)
        if not isinstance(cls, type) or not issubclass(cls, Target):
            raise PluginDefinitionError(f"{info.origin}: {_NO_TARGET}, not {cls!r}")
        complete = complete_arguments(cls, info.name, arguments)
        arguments_key = digest_of(complete, f"arguments of target '{info.name}'")
        key = (cls, f"{info.qualified}-{info.version}-{arguments_key}")
        live: LiveTarget = self._instances.get(key, lambda: self._make(info, cls, complete, key))[0]
        return live

    def acquire(self, info: PluginInfo, arguments: dict[str, Any] | None = None) -> LiveTarget:
        """Return a target initialised and held; the caller releases it with `release`.

        Raises:
            TargetUnavailableError: It cannot be used here.
            TargetError: Its `initialize` raised.
        """
        while True:
            live = self.live(info, arguments or {})
            if not live.is_ready:
                reason = self.why_unavailable(info, arguments)
                if reason:
                    raise TargetUnavailableError(f"target '{info.name}' cannot be used here: {reason}")
            if live.hold():
                return live
            live.forget()

    def _make(
        self, info: PluginInfo, cls: type[Target], arguments: dict[str, Any], key: tuple[type[Target], str]
    ) -> LiveTarget:
        try:
            target = cls(**arguments)
        except DeviceError:
            raise
        except Exception as error:
            raise TargetError(f"target '{info.name}' cannot be made: {describe_error(error)}") from error
        return LiveTarget(
            info,
            target,
            key[1],
            arguments.get("device_id", 0),
            needs=lambda: self._needed_by(info),
            on_closed=lambda live: self._instances.discard(key, live),
        )

    def _needed_by(self, info: PluginInfo) -> dict[str, LiveTarget]:
        held: dict[str, LiveTarget] = {}
        try:
            for need in needs_of(info):
                if need.type == "target":
                    held[need.name] = self.acquire(self.get_info(need.name))
        except BaseException:
            log_all(release_all(held))
            raise
        return held


_NO_TARGET = "a target must be a subclass of brainsmith.targets.Target"
