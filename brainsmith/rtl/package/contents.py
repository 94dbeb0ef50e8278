"""What lies in a package, by name, and what it states about itself."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from brainsmith import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from brainsmith.rtl.package.frame_order import FrameOrder

FOLDER = "accelerator"
"""In the folder of a build."""

MANIFEST = "manifest.json"
GOLDEN = "golden"
COMPONENT = "component.xml"
IMPORT = "import.tcl"
README = "README.md"
BENCH = "cocotb"
HOST = "host.json"
HOST_MODULE = "host.py"
LICENCES = "licenses"

MANIFEST_FORMAT = 1


def file_digest(path: Path) -> str:
    """Return what stands for a file's content in the manifest."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass(frozen=True)
class PackageFacts:
    """What is known of an accelerator beside its design.

    Attributes:
        part: The FPGA that it was folded for.
        period: Of the clock, in nanoseconds.
        golden_from: What made the golden vectors, for the README.
        orders: By the names of inputs: how frames of the network that was built lie, where that is known.
        simulated: What `report/rtl_simulation.json` says; None if it was not simulated.
        synthesised: What `report/rtl_synthesis.json` says; None if it was not synthesised.
        licences: Texts of the licences of what is inside, by file name.
        host: What the host computes around the accelerator, as `host_description` gives it; empty for one that is all of
            its network.
        latency: The estimate of the cycles of one frame; None if there is none but the sum of its layers' cycles.
        version: Of BrainSmith.
    """

    part: str
    period: float
    golden_from: str
    orders: Mapping[str, FrameOrder] = field(default_factory=dict)
    simulated: Mapping[str, Any] | None = None
    synthesised: Mapping[str, Any] | None = None
    licences: Mapping[str, str] = field(default_factory=dict)
    host: Mapping[str, Any] = field(default_factory=dict)
    latency: int | None = None
    version: str = __version__


def package_folder(folder: Path) -> Path | None:
    """Return where a package lies, given its own folder or that of the build which made it; None if there is none."""
    return next((one for one in (folder / FOLDER, folder) if (one / MANIFEST).is_file()), None)
