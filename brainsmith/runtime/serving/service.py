"""What a server does with the target that it serves: the models it was sent, what is prepared, executing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import DeviceError, TargetError, UsageError
from brainsmith.runtime.availability import why_unsupported
from brainsmith.runtime.devices import find_device
from brainsmith.runtime.live_target import live_target_of
from brainsmith.runtime.recent import Recent
from brainsmith.runtime.resource_content import content_of, digest_of
from brainsmith.runtime.resource_manager import ResourceManager
from brainsmith.runtime.serving.limits import Limits
from brainsmith.runtime.serving.model_screening import check_config, check_model
from brainsmith.runtime.serving.protocol import UNKNOWN_MODEL, UNKNOWN_PREPARED, RefusedError, model_content

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.runtime.prepared import Prepared
    from brainsmith.runtime.serving.wire import Array, Head
    from brainsmith.runtime.target_registry import TargetRegistry

REMOTE = "remote"
"""The target that is a client, and so not served."""

MODELS = 4
"""How many models are kept that were sent; once prepared, they are needed no more."""

PREPARED = 32
"""How many prepared resources are kept, those that were used last."""

DEVICES = 64
"""Device numbers are below this, where the target does not say which it has."""

_OWN_KEYWORDS = ("self", "prepared", "inputs", "keep")


class Service:
    """One target, initialised, for any number of clients; all methods may be called from any thread.

    Args:
        name: The target's.
        limits: How much a request may take.
        folders: Folders that clients may execute if they have the same: none is ever sent, since they hold programs.

    Raises:
        UsageError: It is `remote`, or a device rather than a target; or the target cannot execute one of the folders.
        DeviceError: There is no such target.
        TargetUnavailableError: It cannot be used here.
        TargetError: Its `initialize` raised.
    """

    def __init__(self, name: str, limits: Limits | None = None, folders: Sequence[str] = ()) -> None:
        self.limits = limits or Limits()
        self._sent: Recent[str, bytes] = Recent(MODELS)
        self._prepared: Recent[str, Prepared] = Recent(PREPARED)
        self._folders = {content_of(folder): folder for folder in folders}
        self._manager = ResourceManager({"device": "auto"})
        self.info = _named(self._manager.registry, name)
        if self.info.name == REMOTE:
            raise UsageError(
                "the target remote cannot be served: serve the target that it stands for, on its machine"
            )
        live = live_target_of(self._manager.switch_plugin(self.info.qualified))
        assert live is not None
        for folder in folders:
            if problem := why_unsupported(live, folder):
                self._manager.close()
                raise UsageError(
                    f"--build must be a folder that target '{self.info.name}' executes, not {folder}: {problem}"
                )

    def describe(self) -> dict[str, Any]:
        """Return what a client must know, as plain values."""
        from brainsmith import __version__

        target = self._manager.active
        assert target is not None
        ids = type(target).device_ids()
        return {
            "name": self.info.name,
            "framework": self.info.framework,
            "description": self.info.description,
            "brainsmith": __version__,
            "capabilities": vars(target.get_capabilities()),
            "device_ids": None if ids is None else list(ids),
            "megabytes": self.limits.megabytes,
            "seconds": self.limits.seconds,
        }

    def has(self, content: str) -> bool:
        """Return whether there is a model or folder of a content."""
        return content in self._folders or self._sent.find(content) is not None

    def store(self, content: str, data: bytes) -> dict[str, Any]:
        """Keep a model that was sent.

        Raises:
            RefusedError: It is not the one that was announced.
            ModelError: It is not executed for clients.
        """
        if model_content(data) != content:
            raise RefusedError(
                400, f"the model that was sent does not have the digest {content!r} that the path states"
            )
        check_model(data)
        self._sent.keep(content, data)
        return {}

    def prepare(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Have the target prepare a model or folder that is here.

        Args:
            request: `content`, `device_id`, `config`.

        Returns:
            `prepared`, a name for it, and `signature`; None if the target does not say.

        Raises:
            RefusedError: The request is malformed, or there is no such model.
            BrainsmithError: The target's own.
        """
        content = _given(request, "content", str, "a string")
        device_id = _given(request, "device_id", int, "a whole number")
        config = _given(request, "config", dict, "a table")
        check_config(config)
        if not 0 <= device_id < DEVICES:
            raise DeviceError(f"device_id must be a whole number from 0 to {DEVICES - 1}, not {device_id}")
        device = f"{self.info.qualified}:{device_id}"
        prepared = self._manager.prepare_resource(self._resource(content), config, device=device)
        name = digest_of(prepared.key, "the key")
        self._prepared.keep(name, prepared)
        signature = prepared.signature
        return {"prepared": name, "signature": None if signature is None else signature.to_plain()}

    def execute(self, head: Head, arrays: dict[str, Array]) -> dict[str, Array]:
        """Execute what was prepared.

        Args:
            head: `prepared`, `keep` and `options`, the target's own keywords.
            arrays: The inputs.

        Raises:
            RefusedError: The request is malformed, or nothing of this name is prepared.
            BrainsmithError: The target's own.
        """
        name = _given(head, "prepared", str, "a string")
        options = _given(head, "options", dict, "a table")
        check_config(options)
        if wrong := [key for key in options if not key.isidentifier() or key in _OWN_KEYWORDS]:
            raise RefusedError(400, f"options cannot have {wrong[0]!r}")
        keep = head.get("keep")
        if keep is not None and not (isinstance(keep, list) and all(isinstance(one, str) for one in keep)):
            raise RefusedError(400, f"keep must be a list of names or null, not {keep!r}")
        prepared = self._prepared.find(name)
        if prepared is None:
            raise RefusedError(404, f"nothing is prepared under {name!r}: prepare it again", UNKNOWN_PREPARED)
        if keep != []:
            options = {**options, "keep": keep}
        outputs = self._manager.execute(prepared, arrays, **options)
        return _arrays(self.info.name, outputs)

    def close(self) -> None:
        """Release the target.

        Raises:
            TargetError: Its `cleanup` raised.
        """
        self._prepared.clear()
        self._sent.clear()
        self._manager.close()

    def _resource(self, content: str) -> bytes | str:
        found = self._folders.get(content) or self._sent.find(content)
        if found is None:
            raise RefusedError(
                404, f"there is no model with the digest {content!r}: send it first", UNKNOWN_MODEL
            )
        return found


def _named(registry: TargetRegistry, name: str) -> PluginInfo:
    try:
        return registry.get_info(name)
    except DeviceError as error:
        find_device(name, registry.records)  # which raises the same if it is no device either
        raise UsageError(
            f"serve-target takes the name of a target, such as numpy, not {name!r}; clients choose one of its devices, as "
            "in remote:1"
        ) from error


def _given(request: Mapping[str, Any], name: str, kind: type, what: str) -> Any:
    value = request.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise RefusedError(400, f"{name} of a request must be {what}, not {value!r}")
    return value


def _arrays(name: str, outputs: Any) -> dict[str, Array]:
    import numpy as np

    try:
        return {tensor: np.asarray(value) for tensor, value in outputs.items()}
    except (AttributeError, ValueError) as error:
        raise TargetError(
            f"target '{name}' must return arrays by name to be served, not {type(outputs).__name__}"
        ) from error
