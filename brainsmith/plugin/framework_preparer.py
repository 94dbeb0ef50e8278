"""Prepare FINN when something first imports a part of it, and complete modules of QONNX when they are imported."""

from __future__ import annotations

import sys

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType
    from typing import Any

    from brainsmith.plugin.info import PluginInfo

_PREPARATIONS: dict[str, Callable[[], None]] = {}
"""What makes a framework's modules usable, by its name; of a plugin that needs several, the first prepares all."""

_COMPLETIONS: dict[str, Callable[[ModuleType], None]] = {}
"""What completes a module of QONNX, by its name."""


def prepare_frameworks_when_imported(
    preparations: Mapping[str, Callable[[], None]], completions: Mapping[str, Callable[[ModuleType], None]]
) -> None:
    """Let FINN's own modules be imported as usual from now on, and complete QONNX's; nothing is imported for it.

    Args:
        preparations: What the adapter of each framework prepares before its modules are used.
        completions: What completes a module of QONNX, by its name.
    """
    _PREPARATIONS.update(preparations)
    _COMPLETIONS.update(completions)
    if FrameworkPreparer not in sys.meta_path:
        sys.meta_path.insert(0, FrameworkPreparer)
        for name, complete in completions.items():
            if name in sys.modules:
                complete(sys.modules[name])


def prepare_frameworks_of(info: PluginInfo) -> None:
    """Prepare the frameworks that a plugin comes from or requires, before its module is imported."""
    for framework, prepare in _PREPARATIONS.items():
        if info.framework == framework or any(need.startswith(framework) for need in info.requires):
            prepare()
            return


class FrameworkPreparer:
    """Prepares FINN, which wants torch and a set-up Vivado before it imports, when something first imports a part of it.

    So FINN's own modules, its builder among them, are imported as usual, and a plugin's file need not say that it does.
    """

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> Any:
        """Prepare FINN at the first of its modules; return the spec of that one, or of one to complete, else None."""
        if fullname in _COMPLETIONS:
            return _completed(_spec_by_others(fullname, path, target), _COMPLETIONS[fullname])
        if not fullname.startswith("finn."):
            return None
        _PREPARATIONS["finn"]()
        if FrameworkPreparer in sys.meta_path:
            sys.meta_path.remove(FrameworkPreparer)
        return _spec_by_others(fullname, path, target)


def _spec_by_others(fullname: str, path: Any, target: Any) -> Any:
    finders = [finder for finder in sys.meta_path if finder is not FrameworkPreparer]
    specs = (finder.find_spec(fullname, path, target) for finder in finders)
    return next((spec for spec in specs if spec is not None), None)


def _completed(spec: Any, complete: Callable[[ModuleType], None]) -> Any:
    from brainsmith.plugin.adapters.completing_loader import CompletingLoader  # QONNX is about to be imported

    if spec is not None and spec.loader is not None and not isinstance(spec.loader, CompletingLoader):
        spec.loader = CompletingLoader(spec.loader, complete, None)
    return spec
