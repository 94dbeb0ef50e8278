"""Which backends a node may have, in which order, and who says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from brainsmith.errors import BuildError
from brainsmith.plugin.collections import backends_of, ranked
from brainsmith.plugin.info import BACKEND_TYPES
from brainsmith.plugin.node_claims import claims, only_claimant
from brainsmith.plugin.precedence import split_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx import NodeProto

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.plugin_registry import Registry

ANY_KERNEL = "*"
"""In preferences: all kernels that are not named."""


class Order(NamedTuple):
    """The backends that a kernel's nodes may have.

    Attributes:
        backends: The preferred one first.
        why: Who says so.
        others: The kernel's further ones, which are not listed for it.
        listed: Whether the preferences say something of the kernel.
    """

    backends: tuple[PluginInfo, ...]
    why: str
    others: tuple[PluginInfo, ...] = ()
    listed: bool = False


class BackendOrder:
    """Looks up kernels and their backends, without importing any.

    Args:
        registry: Every plugin.
        preferences: Backends by kernels, as `StepConfig.kernel_preferences`.
    """

    def __init__(self, registry: Registry, preferences: Mapping[str, Sequence[str]]) -> None:
        self._registry = registry
        self._preferences = preferences
        self._kernels = claims(registry.records("kernel"))
        self._known: dict[tuple[str, str], Order] = {}

    def kernel_of(self, node: NodeProto) -> PluginInfo | None:
        """Return the kernel whose node this is; None for a backend's and for the host's.

        Raises:
            DuplicatePluginError: Several kernels claim the node's type.
        """
        found = self._kernels.get((node.domain, node.op_type))
        return only_claimant(node.domain, node.op_type, found) if found else None

    def of(self, kernel: PluginInfo, style: str = "") -> Order:
        """Return the backends of a kernel, of each kernel as they are when it is first asked for; see `_order`."""
        key = (kernel.qualified, style)
        if key not in self._known:
            self._known[key] = self._order(kernel, style)
        return self._known[key]

    def _order(self, kernel: PluginInfo, style: str) -> Order:
        """Return the backends of a kernel.

        Args:
            kernel: As `kernel_of` gives it.
            style: The type that the node itself prefers; heard where nothing is listed for the kernel.

        Raises:
            BuildError: The preferences name a backend that the kernel does not have.
        """
        own = ranked(backends_of(self._registry, kernel))
        for key in (kernel.qualified, kernel.name, ANY_KERNEL):
            names = self._preferences.get(key)
            if names:
                listed = tuple(dict.fromkeys(info for name in names for info in _named(kernel, own, name)))
                whom = "all kernels" if key == ANY_KERNEL else kernel.name
                others = tuple(info for info in own if info not in listed)
                return Order(listed, f"listed for {whom}", others, listed=True)
        if style:
            own.sort(key=lambda info: info.backend_type != style)
            return Order(tuple(own), f"the node prefers {style}")
        return Order(tuple(own), f"nothing is listed for {kernel.name}: RTL first, then HLS")


def _named(kernel: PluginInfo, own: list[PluginInfo], name: str) -> list[PluginInfo]:
    """Return the kernel's backends that a type or a name means."""
    if name in BACKEND_TYPES:
        return [info for info in own if info.backend_type == name]
    framework, bare = split_name(name)
    found = [info for info in own if info.name == bare and framework in (None, info.framework)]
    if not found:
        has = ", ".join(info.qualified for info in own) or "none"
        raise BuildError(f"kernel {kernel.qualified!r} has no backend {name!r}; it has {has}")
    return found
