"""The door: what users and plugins import.

from brainsmith.plugins import transforms as tfm, kernels as kn, backends as bk, steps

model = model.transform(tfm.ExpandNorms())
model = model.transform(tfm.finn.Streamline())
"""

from __future__ import annotations

from brainsmith import DECORATORS
from brainsmith.plugin.collections import Backends, Collection, Kernels
from brainsmith.plugin.core import get_registry
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.manager import reset_plugin_system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

transforms = Collection("transform", get_registry)
"""All transforms: `tfm.X`, `tfm.finn.X`, `tfm.qonnx.X`."""

kernels = Kernels("kernel", get_registry)
"""All kernels."""

backends = Backends("backend", get_registry)
"""All backends."""

steps = Collection("step", get_registry)
"""All build steps."""

ops = Collection("op", get_registry)
"""All ops; `brainsmith.ops` runs, differentiates and exports them."""

__all__ = ["PluginInfo", "backends", "kernels", "ops", "reset_plugin_system", "steps", "transforms"]

_ABOVE = {
    **dict.fromkeys(DECORATORS, "brainsmith.plugin.core"),
    "load_blueprint_plugins": "brainsmith.blueprint.plugins",
    "Version": "brainsmith.plugin.version",
    "Bundle": "brainsmith.bundles.bundle",
    "BundleBuilder": "brainsmith.bundles.builder",
    "BundleRegistry": "brainsmith.bundles.registry",
    "CustomLayer": "brainsmith.ops",
    "load_plugin": "brainsmith.bundles.loader",
    "unload_plugin": "brainsmith.bundles.loader",
    "reload_plugin": "brainsmith.bundles.loader",
    "list_plugins": "brainsmith.bundles.loader",
    "get_plugin_info": "brainsmith.bundles.loader",
    "is_plugin_loaded": "brainsmith.bundles.loader",
}
"""Where the names are that cost an import. None needs numpy: a shell looks at all of them when it completes a name."""


def __getattr__(name: str) -> Any:
    """Reach what lies elsewhere, most of it in the layers above, by name, when it is asked for (PEP 562)."""
    if name in _ABOVE:
        from importlib import import_module

        return getattr(import_module(_ABOVE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List what can be imported from here, what lies above included."""
    return sorted([*__all__, *_ABOVE])
