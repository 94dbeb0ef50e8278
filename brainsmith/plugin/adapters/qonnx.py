"""Find QONNX's transformations and operators by reading the installed package."""

from __future__ import annotations

from brainsmith.plugin.adapters.package_reading import PackageAdapter


class QONNXAdapter(PackageAdapter):
    """Finds the plugins of QONNX."""

    name = "qonnx"
    package = "qonnx"
    closure = ("qonnx",)
