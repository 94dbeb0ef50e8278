"""The door: what users and plugins import.

from brainsmith.plugins import transforms as tfm, kernels as kn, backends as bk, steps

model = model.transform(tfm.ExpandNorms())
model = model.transform(tfm.finn.Streamline())
"""

from __future__ import annotations

import sys

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


class _FinnPreparer:
    """Prepares FINN, which wants torch and a set-up Vivado before it imports, when something first imports a part of it.

    So FINN's own modules, its builder among them, are imported as ever after this one. Nothing happens before that.
    """

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> Any:
        """Prepare FINN at the first of its modules; return that one's spec, and None of all others."""
        if not fullname.startswith("finn."):
            return None
        from brainsmith.plugin.adapters.finn_runtime import prepare_finn

        prepare_finn()
        if _FinnPreparer in sys.meta_path:
            sys.meta_path.remove(_FinnPreparer)
        specs = (finder.find_spec(fullname, path, target) for finder in list(sys.meta_path))
        return next((spec for spec in specs if spec is not None), None)


if _FinnPreparer not in sys.meta_path:
    sys.meta_path.insert(0, _FinnPreparer)

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
