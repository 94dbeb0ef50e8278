"""What an RTL backend is made of: a SystemVerilog core, and a class that says which parameters it gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.rtl.cores.parallelism import Parallelism
from brainsmith.rtl.cores.support import SUPPORTED, Support, unsupported
from brainsmith.rtl.cores.wrapper import CoreStream
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from brainsmith.rtl.cores.backend import CoreBackend

__all__ = ["SUPPORTED", "CoreBackend", "CoreStream", "Parallelism", "Resources", "Support", "unsupported"]


def __getattr__(name: str) -> Any:
    if name == "CoreBackend":  # its base is FINN's
        from brainsmith.rtl.cores.backend import CoreBackend

        return CoreBackend
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
