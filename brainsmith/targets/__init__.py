"""Targets: what users import, and the folder of the targets that ship.

    from brainsmith import targets

    targets.init("numpy")
    y = targets.execute("model.onnx", x)

The names come from the rooms that make them when they are asked for (PEP 562).
"""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.lazy_names import homes_of, lazy_names

if TYPE_CHECKING:
    from brainsmith.execution.signature import ModelSignature as ModelSignature
    from brainsmith.execution.signature import TensorSpec as TensorSpec
    from brainsmith.plugin.core import target as target
    from brainsmith.plugin.info import PluginInfo as PluginInfo
    from brainsmith.plugin.info import Priority as Priority
    from brainsmith.runtime.capabilities import Capabilities as Capabilities
    from brainsmith.runtime.chain import Chain as Chain
    from brainsmith.runtime.chain import Stage as Stage
    from brainsmith.runtime.default import execute as execute
    from brainsmith.runtime.default import get_registry as get_registry
    from brainsmith.runtime.default import get_resource_manager as get_resource_manager
    from brainsmith.runtime.default import init as init
    from brainsmith.runtime.default import list_plugins as list_plugins
    from brainsmith.runtime.prepared import Prepared as Prepared
    from brainsmith.runtime.profile import Profile as Profile
    from brainsmith.runtime.resource_manager import ResourceManager as ResourceManager
    from brainsmith.runtime.target import Target as Target
    from brainsmith.runtime.target_registry import TargetRegistry as TargetRegistry
    from brainsmith.runtime.wrapping import create_backend_plugin as create_backend_plugin

_HOMES = homes_of(__file__)

__all__ = sorted(_HOMES)  # noqa: PLE0605

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
