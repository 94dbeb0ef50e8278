"""Many builds of one design space: which points there are, what they share, and which are best.

Names are imported when they are asked for (PEP 562): a worker needs few of them.
"""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.lazy_names import homes_of, lazy_names

if TYPE_CHECKING:
    from brainsmith.blueprint.space.space import Space as Space
    from brainsmith.blueprint.space.space import load_space as load_space
    from brainsmith.exploration.cluster import ClusterCrew as ClusterCrew
    from brainsmith.exploration.exploring import Exploration as Exploration
    from brainsmith.exploration.ladder import Explored as Explored
    from brainsmith.exploration.ladder import explore as explore
    from brainsmith.exploration.point_journal import PointRun as PointRun

_HOMES = homes_of(__file__)

__all__ = sorted(_HOMES)  # noqa: PLE0605

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
