"""What annotations call arrays and their shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

Shape = tuple[int, ...]
