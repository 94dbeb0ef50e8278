"""How a wheel's user gets FINN: without what no build here imports."""

from __future__ import annotations

import os

INSTALL_FINN = "brainsmith install-finn"
"""The command that installs it."""

REQUIREMENTS = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "finn_requirements.txt"
)
"""The list that it installs: FINN+ and what it needs, at versions that were tested together.

FINN+ declares brevitas too, which needs torch and CUDA (5 GB), and a solver: nothing here imports them.
"""
