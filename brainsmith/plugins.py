"""The door: what users and plugins import.

from brainsmith.plugins import transforms as tfm, kernels as kn, backends as bk, steps

model = model.transform(tfm.ExpandNorms())
model = model.transform(tfm.finn.Streamline())
"""

from __future__ import annotations

from brainsmith import DECORATORS
from brainsmith.lazy_names import lazy_names
from brainsmith.plugin.collections import Backends, Collection, Kernels
from brainsmith.plugin.core import get_registry
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.manager import reset_plugin_system

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
    "load_blueprint_plugins": "brainsmith.blueprint.blueprint_plugins",
    "Version": "brainsmith.plugin.version",
    "Bundle": "brainsmith.bundles.bundle",
    "BundleBuilder": "brainsmith.bundles.bundle_builder",
    "BundleRegistry": "brainsmith.bundles.bundle_registry",
    "CustomLayer": "brainsmith.ops",
    **dict.fromkeys(("load_plugin", "unload_plugin", "reload_plugin"), "brainsmith.bundles.bundle_loader"),
    **dict.fromkeys(
        ("list_plugins", "get_plugin_info", "is_plugin_loaded"), "brainsmith.bundles.bundle_loader"
    ),
}
"""Where the names are that cost an import. None needs numpy: a shell looks at all of them when it completes a name."""

__getattr__, __dir__ = lazy_names(__name__, _ABOVE, *__all__)
