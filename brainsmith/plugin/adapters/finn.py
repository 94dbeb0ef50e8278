"""Find the transformations, kernels, backends, operators and steps of FINN, upstream or FINN+, by reading it.

Both import as `finn`. Nothing here knows a name of one of its plugins: see `package_reading`.
"""

from __future__ import annotations

from brainsmith.plugin.adapters.adapter import Reading
from brainsmith.plugin.adapters.package_reading import PackageAdapter
from brainsmith.plugin.package_files import distribution_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brainsmith.plugin.adapter_result import AdapterResult


class FINNAdapter(PackageAdapter):
    """Finds the plugins of FINN."""

    name = "finn"
    package = "finn"

    def version(self) -> str:
        """Return the installed version."""
        return distribution_version("finn")

    def discover(self, reading: Reading) -> AdapterResult:
        """Read the package; its classes descend from QONNX's."""
        return self.read(reading, closure=("qonnx", "finn"))
