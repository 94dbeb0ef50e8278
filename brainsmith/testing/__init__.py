"""What tests of plugins share: laws of transforms and backends, small models, distributions as if they were installed.

pytest loads `pytest_plugin` in each run of each project, so this package imports nothing until a name is asked for.
"""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.lazy_names import homes_of, lazy_names

if TYPE_CHECKING:
    from brainsmith.testing.backend_laws import check_backend as check_backend
    from brainsmith.testing.backend_laws import check_cases as check_cases
    from brainsmith.testing.installed_distribution import InstalledPlugins as InstalledPlugins
    from brainsmith.testing.installed_distribution import write_distribution as write_distribution
    from brainsmith.testing.small_models import make_model as make_model
    from brainsmith.testing.small_models import op_types as op_types
    from brainsmith.testing.transform_laws import check_transform as check_transform

__getattr__, __dir__ = lazy_names(__name__, homes_of(__file__))
