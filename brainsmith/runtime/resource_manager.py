"""The resource manager: which target is active, what it has prepared, and how to change it while running."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from brainsmith.errors import NoActiveTargetError, SettingsError
from brainsmith.forks import lock_of
from brainsmith.plugin.core import get_registry as plugin_registry
from brainsmith.runtime.chain import Chain, make_chain
from brainsmith.runtime.devices import AUTO, Device, find_device
from brainsmith.runtime.held_targets import Holdings
from brainsmith.runtime.manager_config import ManagerConfig
from brainsmith.runtime.prepared import Prepared
from brainsmith.runtime.recent import Recent
from brainsmith.runtime.resource_content import content_of
from brainsmith.runtime.resource_info import describe_held, describe_prepared
from brainsmith.runtime.target_calls import execute_prepared, prepare
from brainsmith.runtime.target_choice import TargetChoice
from brainsmith.runtime.target_log import note
from brainsmith.runtime.thread_calls import ChangeLock

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainsmith.runtime.live_target import LiveTarget
    from brainsmith.runtime.profile import Profile
    from brainsmith.runtime.target import Target
    from brainsmith.runtime.target_calls import Outputs
    from brainsmith.runtime.target_registry import TargetRegistry

_REMEMBERED = 256
"""Resources for which it is known which target is the best; those that were used last."""

_NO_TARGET = "no target is active: call initialize() or switch_plugin(name) first, or use the manager in a with statement"


class ResourceManager:
    """Holds targets, and has one of them active. All methods may be called from any thread.

    A target is initialised when it is first chosen, and stays so with all that it has prepared when another one is
    chosen; it is cleaned up when the manager closes or releases it, unless another manager holds it too.

    Args:
        config: `device` (as `init`; by default the setting), `verbose`, and `targets`: constructor arguments by the
            target's name.
        registry: Of the targets; the one of this process by default.
        use_plugin_system: True: targets are plugins, and there is no other way to reach them.

    Raises:
        SettingsError: The configuration has an unknown key, or a value that cannot be used.
    """

    def __init__(
        self,
        config: Mapping[str, Any] | None = None,
        registry: TargetRegistry | None = None,
        *,
        use_plugin_system: bool = True,
    ) -> None:
        from brainsmith.runtime.default import get_registry

        if not use_plugin_system:
            raise SettingsError(
                "use_plugin_system must be True, not False: every target is a plugin; leave the argument out"
            )
        self.config = ManagerConfig.of(config)
        self.registry = registry or get_registry()
        self._lock = lock_of()  # of what is active; never while a target initialises or executes
        self._switching = ChangeLock()
        self._holdings = Holdings()
        self._begun = False
        self._active: LiveTarget | None = None
        self._choice: TargetChoice | None = None
        self._choices: Recent[tuple[str, int], LiveTarget] = Recent(_REMEMBERED)

    @property
    def active(self) -> Target | None:
        """The target that is active; None before one is chosen, and after `close`."""
        active = self._active
        return None if active is None else active.target

    @property
    def is_automatic(self) -> bool:
        """Whether the best of all targets is chosen for each resource: no target and no device type was named."""
        with self._lock:
            active, choice = self._active, self._choice
        if choice is not None:
            return choice.device_type is None
        return active is None and self.config.device.partition(":")[0] == AUTO

    def initialize(self, auto_discover: bool = True) -> Self:
        """Choose the target that the configuration names, unless one is active.

        Args:
            auto_discover: Choose the best one if the configuration names none. Otherwise none is active until
                `switch_plugin` chooses one.

        Returns:
            The manager itself.

        Raises:
            DeviceError: There is no such device.
            TargetUnavailableError: It cannot be used here.
            TargetError: Its `initialize` raised.
        """
        if self._active is None:
            with self._switching.change(), self.config.applied():
                if self._active is None and (auto_discover or self.config.names_device):
                    self.use_device(self.config.device)
        self._begun = True
        return self

    def configure(self, config: Mapping[str, Any] | None = None) -> Self:
        """Take another configuration, and choose the device that it names, or else the setting: all or nothing.

        Raises:
            SettingsError: The configuration has an unknown key, or a value that cannot be used.
            DeviceError, TargetUnavailableError, TargetError: As `initialize`.
        """
        given = ManagerConfig.of(config)
        with self._switching.change(), given.applied():
            before, self.config = self.config, given
            try:
                self.use_device(given.device)
            except BaseException:
                self.config = before
                raise
        return self

    def use_device(self, text: str) -> Target:
        """Choose a target by a device's name: `auto`, `cpu`, `numpy`, `rtlsim:1`. All or nothing.

        With `auto` or a device type the best target is chosen now, and for each resource the best that supports it.

        Raises:
            DeviceError, TargetUnavailableError, TargetError: As `initialize`. The target that was active stays so.
        """
        return self._activate(find_device(text, self.registry.records))

    def switch_plugin(self, name: str, device_id: int = 0, **arguments: Any) -> Target:
        """Make another target the active one: all or nothing.

        The one that was active stays initialised with what it has prepared; both can be executed.

        Args:
            name: `name` or `framework:name`.
            device_id: Which of several equal devices.
            **arguments: Further constructor arguments; they win over the configuration's.

        Raises:
            DeviceError, TargetUnavailableError, TargetError: As `initialize`. The target that was active stays so.
        """
        return self._activate(Device(self.registry.get_info(name), None, device_id), arguments)

    def prepare_resource(
        self, resource: Any, config: Mapping[str, Any] | None = None, device: str | None = None
    ) -> Prepared:
        """Have the active target prepare a resource; one that it has already is returned.

        Args:
            resource: The path of an .onnx file, its bytes, a QONNX ModelWrapper; for some targets a build's folder.
            config: The target's own choices, plain values.
            device: Another device than the active target; that stays active.

        Raises:
            NoActiveTargetError: No target is active, and no device is named.
            DeviceError: There is no such device.
            UnsupportedResourceError: The active target does not support it; with `auto`: none does.
            TargetError: The target failed.
        """
        content = content_of(resource)
        if device is not None:
            other = find_device(device, self.registry.records)
            with self._switching.change():
                held, chooser = self._hold(other, resource)
            return prepare(held, resource, content, config, supported=chooser is not None)
        while True:
            with self._lock:
                live, choice = self._active, self._choice
            if live is None:
                raise NoActiveTargetError(_NO_TARGET)
            if choice is None:
                return prepare(live, resource, content, config)
            chosen = self._choose(choice, resource, content)
            if chosen is not None:
                return prepare(chosen, resource, content, config, supported=True)

    def prepare_chain(self, stages: Iterable[Any]) -> Chain:
        """Prepare several stages that are executed one after the other.

        Args:
            stages: Each a `Stage`, a prepared resource, a function of arrays, or what `prepare_resource` takes.

        Raises:
            TargetError: A target failed, or a stage cannot take what the one before it gives.
        """
        return make_chain(stages, self.prepare_resource)

    def execute(self, prepared: Prepared | Chain, inputs: Any, **kwargs: Any) -> Outputs:
        """Execute what was prepared, on the target that prepared it, active or not.

        Args:
            prepared: Of any manager; or a chain.
            inputs: Arrays by name, or one array for a model with one input. Their first axis is any multiple of the
                model's own.
            **kwargs: The target's own; `keep` names further tensors to return.

        Returns:
            The outputs by name.

        Raises:
            NoActiveTargetError: No target is active.
            InputError: The inputs are not the model's.
            TargetError: The target failed, or was released.
        """
        if not len(self._holdings):
            raise NoActiveTargetError(_NO_TARGET)
        if isinstance(prepared, Chain):
            return prepared.execute(inputs, **kwargs)
        return execute_prepared(prepared, inputs, kwargs)

    def release(self, name: str, device_id: int | None = None) -> None:
        """Release a target; it is cleaned up unless another manager holds it. If it is active, none is any more.

        Args:
            name: `name` or `framework:name`.
            device_id: Only of this device; of all by default.

        Raises:
            NoActiveTargetError: The manager does not hold it.
            TargetError: Its `cleanup` raised. It is released all the same.
        """
        with self._switching.change():
            self._holdings.release(self._holdings.named(name, device_id), self._forget)

    def close(self) -> None:
        """Release all targets, the last chosen first. A closed manager can be initialised again.

        Raises:
            TargetError: The `cleanup` of one raised; the first is reported. All are released all the same.
        """
        with self._switching.change():
            self._holdings.release(reversed(self._holdings.all()), self._forget)
            with self._lock:
                self._choice, self._begun = None, False

    def get_resource_info(self, prepared: Prepared | None = None) -> dict[str, Any]:
        """Return what is known about one prepared resource, or of all that the manager holds, as plain values."""
        if prepared is not None:
            return describe_prepared(prepared)
        with self._lock:
            active, choice = self._active, self._choice
        return describe_held(active, choice is not None, self._holdings.all())

    def profiles(self) -> dict[str, Profile]:
        """Return what each target that the manager holds took, by `name:device_id`."""
        return {f"{live.name}:{live.device_id}": live.meter.profile() for live in self._holdings.all()}

    def __enter__(self) -> Self:
        return self if self._begun else self.initialize()

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """Say what is active and what is held; nothing is chosen for it."""
        active, held = self._active, [f"{live.name}:{live.device_id}" for live in self._holdings.all()]
        named = f"{active.name}:{active.device_id} is" if active is not None else "no target is"
        return f"<resource manager: device {self.config.device}, {named} active, held: {', '.join(held) or 'none'}>"

    def _hold(
        self, device: Device, resource: Any = None, arguments: Mapping[str, Any] | None = None
    ) -> tuple[LiveTarget, TargetChoice | None]:
        """Hold the target of a device, or the best of several for a resource; return it, and what chose it."""
        stated = self._stated()
        if device.target is None:
            choice = TargetChoice(self.registry, device.device_type, device.device_id, stated)
            return self._holdings.keep(choice.acquire(resource)), choice
        own = {**stated.get(device.target.name, {}), **(arguments or {}), "device_id": device.device_id}
        return self._holdings.keep(self.registry.acquire(device.target, own)), None

    def _stated(self) -> dict[str, Mapping[str, Any]]:
        """Return the constructor arguments that the configuration states, by the target's name.

        Raises:
            DeviceError: One is of no target.
        """
        return {self.registry.get_info(name).name: stated for name, stated in self.config.targets.items()}

    def _activate(self, device: Device, arguments: Mapping[str, Any] | None = None) -> Target:
        with self._switching.change():
            live, choice = self._hold(device, None, arguments)
            with self._lock:
                self._active, self._choice = live, choice
                self._choices.clear()
        if choice is None:
            note("%s is active", live)
        return live.target

    def _choose(self, choice: TargetChoice, resource: Any, content: str) -> LiveTarget | None:
        """Return the best target for a resource; asked once for each content as long as no plugin changes.

        Returns:
            None if another device was chosen meanwhile, or the manager closed: a closed one must hold nothing.
        """
        chosen = self._choices.find(_as_plugins_are(content)) if content else None
        if chosen is not None and chosen.is_ready:
            return chosen
        with self._switching.change():
            if self._choice is not choice or self._active is None:
                return None
            live = self._holdings.keep(choice.acquire(resource))
            with self._lock:
                self._active = live
                self._choices.keep(_as_plugins_are(content), live)
        return live

    def _forget(self, live: LiveTarget) -> None:
        with self._lock:
            self._choices.forget(live)
            if self._active is live:
                self._active = None


def _as_plugins_are(content: str) -> tuple[str, int]:
    """Return a content as the key of what holds until a plugin changes."""
    return content, plugin_registry().generation
