"""Blueprints: the YAML that says what to build and with which plugins.

Names are imported when they are asked for (PEP 562): a process that has a blueprint's plugins in a cache
needs none of the reader.
"""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.lazy_names import homes_of, lazy_names

if TYPE_CHECKING:
    from brainsmith.blueprint.blueprint_plugins import select_blueprint as select_blueprint
    from brainsmith.blueprint.loader import load_blueprint as load_blueprint
    from brainsmith.blueprint.resolve import check_blueprint as check_blueprint
    from brainsmith.blueprint.resolve import resolve_blueprint as resolve_blueprint
    from brainsmith.blueprint.schema import Blueprint as Blueprint
    from brainsmith.blueprint.schema import Position as Position
    from brainsmith.blueprint.selection import Selection as Selection

_HOMES = homes_of(__file__)

__all__ = sorted(_HOMES)  # noqa: PLE0605

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
