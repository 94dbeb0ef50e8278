"""Prepare FINN when something first imports a part of it, and let QONNX's graphs be tables in a notebook."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_GRAPHS = "qonnx.core.modelwrapper"


def prepare_frameworks_when_imported() -> None:
    """Let FINN's own modules be imported as ever from now on, and show QONNX's graphs; nothing is imported for it."""
    if FrameworkPreparer not in sys.meta_path:
        sys.meta_path.insert(0, FrameworkPreparer)
        if _GRAPHS in sys.modules:
            show_graphs(sys.modules[_GRAPHS])


def show_graphs(module: ModuleType) -> None:
    """Let a ModelWrapper be a table in a notebook.

    Args:
        module: QONNX's module of that class.
    """
    from brainsmith.plugin.pages import graph_page

    if hasattr(module, "ModelWrapper"):  # not so while another thread imports it
        module.ModelWrapper._repr_html_ = graph_page


class FrameworkPreparer:
    """Prepares FINN, which wants torch and a set-up Vivado before it imports, when something first imports a part of it.

    So FINN's own modules, its builder among them, are imported as ever, and a plugin's file need not say that it does.
    """

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> Any:
        """Prepare FINN at the first of its modules; return the spec of that one, or of QONNX's graphs, else None."""
        if fullname == _GRAPHS:
            return _shown(_spec_by_others(fullname, path, target))
        if not fullname.startswith("finn."):
            return None
        from brainsmith.plugin.adapters.finn_runtime import prepare_finn

        prepare_finn()
        if FrameworkPreparer in sys.meta_path:
            sys.meta_path.remove(FrameworkPreparer)
        return _spec_by_others(fullname, path, target)


def _spec_by_others(fullname: str, path: Any, target: Any) -> Any:
    finders = [finder for finder in sys.meta_path if finder is not FrameworkPreparer]
    specs = (finder.find_spec(fullname, path, target) for finder in finders)
    return next((spec for spec in specs if spec is not None), None)


def _shown(spec: Any) -> Any:
    from brainsmith.plugin.adapters.completion import CompletingLoader

    if spec is not None and spec.loader is not None and not isinstance(spec.loader, CompletingLoader):
        spec.loader = CompletingLoader(spec.loader, show_graphs, None)
    return spec
