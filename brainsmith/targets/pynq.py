"""pynq: a build's accelerator in the logic of a board, through PYNQ.

It could not be run where it was written, because there was no board: its transfers, plans and messages are tested
against a stand-in of PYNQ's API, and that PYNQ's API is as it is used here, is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import UnsupportedResourceError
from brainsmith.execution.foreign_failures import text_of
from brainsmith.figures import plural
from brainsmith.plugin.core import target
from brainsmith.plugin.info import Priority
from brainsmith.runtime.capabilities import Capabilities
from brainsmith.runtime.prepared import Prepared
from brainsmith.runtime.target import Target
from brainsmith.runtime.target_settings import ANYTHING, COUNT, SECONDS, checked_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.graph.array_types import Array
    from brainsmith.targets.build_folder import BuildFolder
    from brainsmith.targets.pynq_board import Board

SETTINGS = {"dma": ANYTHING, "frames_per_packet": COUNT, "timeout": SECONDS}
NO_RUNTIME = (
    "PYNQ is not installed: this target runs on a board, in the Python of a PYNQ 3 image for Zynq or Kria "
    "(https://www.pynq.io)"
)
NO_DEVICE = "PYNQ finds no device: run as root, on a board of its image"


@dataclass(frozen=True)
class OnBoard:
    """What a build's folder becomes: its accelerator in the logic.

    Attributes:
        folder: What was read.
        board: It runs frames.
    """

    folder: BuildFolder
    board: Board

    def close(self) -> None:
        """Let go of the board."""
        self.board.close()


@target(
    name="pynq",
    priority=Priority.HIGHEST,
    device_types=("fpga",),
    display_name="PYNQ",
    vendor="AMD",
    description="The accelerator of a build in the logic of a board, fed by AXI DMA",
)
class PynqBoard(Target):
    """Runs the accelerator of a build's folder on a board.

    The overlay is made in Vivado of the package (`accelerator/import.tcl`): the accelerator's streams at AXI DMA in simple
    mode, and a packet end (TLAST) after each frame of an output, which the accelerator does not give itself. It lies
    in the folder of the package, with its .hwh, or `bitfile` names it. What the host computes is computed here. Cards in a
    PC (Alveo) have no AXI DMA in their shells, and are not served.

    Args:
        device_id: Which of PYNQ's devices.
        bitfile: The overlay, if it is not the only .bit in the folder of the package.
    """

    def __init__(self, device_id: int = 0, bitfile: str | None = None) -> None:
        super().__init__(device_id)
        self._bitfile = bitfile

    def unavailable_reason(self) -> str:
        """Return what is missing, and where this target runs."""
        if find_spec("pynq") is None:
            return NO_RUNTIME
        try:
            devices = list(_runtime().Device.devices)
        except Exception as error:  # noqa: BLE001  (without its drivers PYNQ raises anything)
            return f"PYNQ does not start: {text_of(error)}"
        return "" if devices else NO_DEVICE

    def supports(self, resource: Any) -> str:
        """Return why a resource is no accelerator with an overlay."""
        from brainsmith.rtl.package.contents import package_folder

        found = package_folder(Path(resource)) if isinstance(resource, (str, Path)) else None
        if found is None:
            return (
                "pynq runs the folder of a build with an accelerator, for which an overlay was made in Vivado"
            )
        try:
            find_overlay(found, self._bitfile)
        except UnsupportedResourceError as error:
            return str(error)
        return ""

    def get_capabilities(self) -> Capabilities:
        """Return what it promises."""
        return Capabilities(bit_exact=True, batch=True, streaming=True)

    def prepare_resource(self, resource: Any, config: Mapping[str, Any] | None = None) -> Prepared:
        """Load a build's overlay into the logic.

        Args:
            resource: The folder of a build or of its package.
            config: `dma`: the DMA of each stream, such as {"s_axis_0": "axi_dma_0", "m_axis_0": "axi_dma_0"}; by default
                the only one that there is. `frames_per_packet`: after how many frames the overlay ends a packet (1).
                `timeout`: the seconds that a packet may take (10).

        Raises:
            UnsupportedResourceError: It is no accelerator, or there is no overlay.
            TargetError: The configuration has other words or values; the overlay cannot be loaded or does not fit.
            BuildError: A file cannot be read.
        """
        from brainsmith.targets.build_folder import read_build_folder
        from brainsmith.targets.pynq_board import Board

        if problem := self.supports(resource):
            raise UnsupportedResourceError(problem)
        settings = checked_settings("pynq", config, SETTINGS)
        folder = read_build_folder(Path(resource))
        bitfile = find_overlay(folder.package.folder, self._bitfile)
        board = Board(_runtime(), bitfile, folder.package.design, self.device_id, **settings)
        return Prepared(target=self, signature=folder.signature, payload=OnBoard(folder, board))

    def execute(  # type: ignore[override]  # an unknown keyword is a TypeError
        self, prepared: Prepared, inputs: Any
    ) -> dict[str, Array]:
        """Run frames on the board.

        Raises:
            InputError: Inputs do not fit.
            TargetError: A transfer failed or did not end in time.
        """
        from brainsmith.rtl.package.frame_order import design_frames

        on_board: OnBoard = prepared.payload
        folder = on_board.folder
        arrays, frames = folder.signature.checked(inputs)

        def run(stacks: dict[str, Array]) -> dict[str, Array]:
            return folder.carried(on_board.board.run(design_frames(folder.package.design, stacks)))

        return folder.signature.joined(folder.run(folder.signature.stacked(arrays, frames), run))


def find_overlay(folder: Path, bitfile: str | None) -> Path:
    """Return the overlay of a package.

    Raises:
        UnsupportedResourceError: It does not exist, or there are several.
    """
    if bitfile is not None:
        if not Path(bitfile).is_file():
            raise UnsupportedResourceError(f"the overlay {bitfile} does not exist")
        return Path(bitfile)
    found = sorted(folder.glob("*.bit"))
    if len(found) == 1:
        return found[0]
    what = f"holds {plural(len(found), 'overlay')}" if found else "holds no overlay (.bit)"
    raise UnsupportedResourceError(
        f"{folder} {what}: make one with its import.tcl in Vivado, and put it there, or name it: PynqBoard(bitfile=FILE)"
    )


def _runtime() -> Any:
    """Return PYNQ's module, whose import looks for devices."""
    import pynq  # type: ignore[import-not-found]  # that of the board, not this module

    return pynq
