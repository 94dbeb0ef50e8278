"""The transforms that steps apply: this project's own by name, and several one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.plugin.manager import get_plugin_manager

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


def own_transform(name: str) -> Any:
    """Return the class of one of this project's transforms.

    In the discovery mode `blueprint` the registry holds what the blueprint names; what steps need is found besides.

    Raises:
        PluginNotFoundError: There is none of this name.
    """
    return get_plugin_manager().recent_records().get("transform", f"brainsmith:{name}")


def transformed(model: ModelWrapper, *transforms: Any) -> ModelWrapper:
    """Return a model after some transforms, which are applied in their order."""
    for transform in transforms:
        model = model.transform(transform)
    return model
