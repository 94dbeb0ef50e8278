"""Which backend each kernel is to have: `cfg.kernel_preferences`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.transforms.backend_order import ANY_KERNEL, BackendOrder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.plugin_registry import Registry


def kernel_preferences(cfg: Any) -> Mapping[str, tuple[str, ...]]:
    """Return the backends that kernels are to have, as `StepConfig.kernel_preferences`; FINN's own config has none."""
    return getattr(cfg, "kernel_preferences", None) or {}


def listed_kernels(cfg: Any, registry: Registry) -> list[PluginInfo]:
    """Return the kernels that the preferences name."""
    named = set(kernel_preferences(cfg)) - {ANY_KERNEL}
    return [info for info in registry.records("kernel") if named & {info.name, info.qualified}]


def prefers_rtl(cfg: Any, registry: Registry, kernel: str) -> bool:
    """Tell whether the preferences list something for a kernel (`framework:Name`), and RTL first."""
    order = BackendOrder(registry, kernel_preferences(cfg)).of(registry.resolve("kernel", kernel))
    return order.listed and [info.backend_type for info in order.backends[:1]] == ["rtl"]
