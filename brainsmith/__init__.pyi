# What `brainsmith/__init__.py` gives when it is asked for it: an import there would cost each start of a process.
from brainsmith.plugin.core import backend as backend
from brainsmith.plugin.core import bundle as bundle
from brainsmith.plugin.core import kernel as kernel
from brainsmith.plugin.core import op as op
from brainsmith.plugin.core import step as step
from brainsmith.plugin.core import target as target
from brainsmith.plugin.core import transform as transform

__version__: str
TYPE_CHECKING: bool
IMPORTED_NS: int
DECORATORS: tuple[str, ...]
MODES: tuple[str, ...]
