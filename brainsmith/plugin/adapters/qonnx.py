"""Find QONNX's transformations and operators by reading the installed package."""

from __future__ import annotations

from brainsmith.plugin.adapters.adapter import Reading
from brainsmith.plugin.adapters.package_reading import PackageAdapter
from brainsmith.plugin.package_files import distribution_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brainsmith.plugin.adapter_result import AdapterResult


class QONNXAdapter(PackageAdapter):
    """Finds the plugins of QONNX."""

    name = "qonnx"
    package = "qonnx"

    def version(self) -> str:
        """Return the installed version."""
        return distribution_version("qonnx")

    def discover(self, reading: Reading) -> AdapterResult:
        """Read the package."""
        return self.read(reading, closure=("qonnx",))
