"""The hub: records, discovery, caches, loading.

Names are imported when they are asked for (PEP 562), so that a process pays only for what it uses.
"""

from __future__ import annotations

from brainsmith import DECORATORS, TYPE_CHECKING
from brainsmith.lazy_names import lazy_names
from brainsmith.plugin.framework_preparer import prepare_frameworks_when_imported
from brainsmith.plugin.info import PluginInfo as PluginInfo

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from brainsmith.plugin.core import get_registry as get_registry
    from brainsmith.plugin.info import PluginType as PluginType
    from brainsmith.plugin.manager import PluginManager as PluginManager
    from brainsmith.plugin.manager import get_plugin_manager as get_plugin_manager
    from brainsmith.plugin.manager import reset_plugin_system as reset_plugin_system

_HOMES = {
    "PluginInfo": "brainsmith.plugin.info",
    "PluginType": "brainsmith.plugin.info",
    **dict.fromkeys(
        ("PluginManager", "get_plugin_manager", "reset_plugin_system"), "brainsmith.plugin.manager"
    ),
    **dict.fromkeys(("get_registry", *DECORATORS), "brainsmith.plugin.core"),
    "load_blueprint_plugins": "brainsmith.blueprint.blueprint_plugins",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605


# What the lower parts of the hub call, and do not import. Each is imported when it is first called.
def _load(info: PluginInfo) -> Any:
    from brainsmith.plugin.plugin_registry import REGISTRY  # a record was asked for its object

    return REGISTRY.load(info)


def _prepare_finn() -> None:
    from brainsmith.plugin.adapters.finn_runtime import prepare_finn  # something needs FINN

    prepare_finn()


def _mend_qonnx() -> None:
    from brainsmith.plugin.adapters.framework_mends import mend_frameworks  # something needs QONNX

    mend_frameworks()


def _show_graphs(module: ModuleType) -> None:
    from brainsmith.plugin.pages import show_graphs  # QONNX is imported

    show_graphs(module)


def _offer_foreign_ops(module: ModuleType) -> None:
    from brainsmith.plugin.environments.op_lookup import offer_foreign_ops  # QONNX is imported

    offer_foreign_ops(module)


PluginInfo.loader = _load
prepare_frameworks_when_imported(
    {"finn": _prepare_finn, "qonnx": _mend_qonnx},
    {"qonnx.core.modelwrapper": _show_graphs, "qonnx.custom_op.registry": _offer_foreign_ops},
)

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
