"""What an RTL backend is made of: a SystemVerilog core, and a class that says which parameters it gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.lazy_names import lazy_names
from brainsmith.rtl.cores.node_support import SUPPORTED, Support, unsupported
from brainsmith.rtl.cores.parallelism import Parallelism
from brainsmith.rtl.cores.wrapper import CoreStream
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from brainsmith.rtl.cores.backend import CoreBackend

__all__ = ["SUPPORTED", "CoreBackend", "CoreStream", "Parallelism", "Resources", "Support", "unsupported"]

_HOMES = {"CoreBackend": "brainsmith.rtl.cores.backend"}  # its base is FINN's

__getattr__, __dir__ = lazy_names(__name__, _HOMES, *__all__)
