"""BrainSmith: a plugin hub for FPGA compilers of quantised neural networks.

Nothing that has a file is imported here: the hub starts in a few milliseconds, and a process pays only for what it uses.
The decorators are imported when they are asked for (PEP 562): `from brainsmith import transform`.
"""

import time

__version__ = "0.1.0"

TYPE_CHECKING = False
"""In place of that of `typing`, which costs as much to import as a cached discovery does."""

IMPORTED_NS = time.time_ns()
"""When this was imported: what is imported later was read later."""

DECORATORS = ("transform", "kernel", "backend", "step", "op", "target", "bundle")
"""The names of the decorators, which the scan looks for."""

MODES = ("full", "blueprint", "selective")
"""The discovery modes; of several that are asked for, the first of these is the one that counts."""

__all__ = ["__version__", *DECORATORS]  # noqa: PLE0604  (all are strings)


def __getattr__(name: str) -> object:
    if name in DECORATORS:
        from importlib import import_module

        return getattr(import_module("brainsmith.plugin.core"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *DECORATORS})
