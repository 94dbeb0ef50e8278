"""This project's own transforms, for the steps: found whatever plugins a blueprint selects."""

from __future__ import annotations

from typing import Any

from brainsmith.plugin.manager import get_plugin_manager


def own_transform(name: str) -> Any:
    """Return the class of one of this project's transforms.

    In the discovery mode `blueprint` the registry holds what the blueprint names; what steps need is found besides.

    Raises:
        PluginNotFoundError: There is none of this name.
    """
    return get_plugin_manager().all_records()[0].get("transform", f"brainsmith:{name}")
