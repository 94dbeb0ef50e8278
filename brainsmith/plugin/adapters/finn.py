"""Find the transformations, kernels, backends, operators and steps of FINN, upstream or FINN+, by reading it.

Both import as `finn`. Nothing here knows a name of one of its plugins: see `package_reading`.
"""

from __future__ import annotations

from brainsmith.plugin.adapters.package_reading import PackageAdapter


class FINNAdapter(PackageAdapter):
    """Finds the plugins of FINN."""

    name = "finn"
    package = "finn"
    closure = ("qonnx", "finn")  # its classes descend from QONNX's
