"""rtl_package: put the accelerator into one folder, with all that is needed to simulate and to use it."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.plugin.core import step
from brainsmith.steps.design_files import take_design
from brainsmith.steps.host_ends import parent_model
from brainsmith.steps.step_reports import read_report

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.package.frame_order import FrameOrder
    from brainsmith.rtl.stitching.design import Design

    Vectors = dict[str, NDArray[Any]]

GOLDEN = "rtl/golden"
"""Where rtl_simulate leaves the golden vectors, in the output folder."""

SIMULATED = "report/rtl_simulation.json"
ESTIMATES = "report/estimates.json"
SYNTHESISED = "report/rtl_synthesis.json"

RANDOM_FRAMES = 8
SEED = 1


@step(
    description="Put the accelerator into a folder: sources, golden vectors, IP-XACT, Vivado script, test bench"
)
def rtl_package(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Write the package to `accelerator` in `cfg.output_dir`; no path in it is absolute.

    The golden vectors are those that rtl_simulate checked. Where it did not run they are a few random frames, with
    what the hardware model computes for them. The README says what was simulated and synthesised before.

    Raises:
        BuildError: The model has no design, or the golden vectors are not those of its streams.
        OutputError: The output folder cannot be written.
    """
    from brainsmith.rtl.package.contents import FOLDER, PackageFacts
    from brainsmith.rtl.package.pack import write_package

    folder = Path(cfg.output_dir)
    design = take_design(model, cfg)
    golden, origin = _golden(model, design, folder / GOLDEN)
    facts = PackageFacts(
        part=cfg._resolve_fpga_part(),
        period=float(cfg.synth_clk_period_ns),
        golden_from=origin,
        orders=_orders(design, golden, cfg.verify_input_npy),
        simulated=read_report(folder / SIMULATED),
        synthesised=read_report(folder / SYNTHESISED),
        licences=_licences(),
        host=_host(folder, design),
        latency=(read_report(folder / ESTIMATES) or {}).get("latency_cycles"),
    )
    write_package(design, folder / FOLDER, golden, facts)
    return model


def _golden(model: ModelWrapper, design: Design, folder: Path) -> tuple[Vectors, str]:
    """Return the golden vectors of all streams, and what the README says of where they come from."""
    streams = [stream.name for stream in (*design.inputs, *design.outputs)]
    there = [name for name in streams if (folder / f"{name}.npy").is_file()]
    if not there:
        origin = f"random inputs (seed {SEED}), and what the hardware model of the network computes for them"
        return _random(model, design), origin
    if there != streams:
        missing = ", ".join(name for name in streams if name not in there)
        raise BuildError(f"{folder} has no golden vectors of {missing}: run the step rtl_simulate again")
    vectors = {name: _load(folder / f"{name}.npy", "run the step rtl_simulate again") for name in streams}
    parts = (read_report(folder.parents[1] / SIMULATED) or {}).get("parts")
    whole = "those with which the circuit was verified"
    return vectors, f"{whole}, layer by layer and in sections" if parts else whole


def _random(model: ModelWrapper, design: Design) -> Vectors:
    """Return random inputs, and the outputs that the model gives for them."""
    import numpy as np

    from brainsmith.execution.execute import Executor
    from brainsmith.rtl.verification.design_runs import random_frames

    feed = random_frames(design, RANDOM_FRAMES, SEED)
    results = Executor(model).run({name: values.astype(np.float32) for name, values in feed.items()})
    tensors = {**results, **feed}
    return {stream.name: tensors[stream.layout.tensor] for stream in (*design.inputs, *design.outputs)}


def _orders(design: Design, golden: Mapping[str, NDArray[Any]], inputs: Any) -> dict[str, FrameOrder]:
    """Return how the network's own frames lie, as far as the golden inputs show it."""
    given = _network_frames(inputs) if len(design.inputs) == 1 else None
    if given is None:
        return {}
    from brainsmith.rtl.package.frame_order import find_order

    (stream,) = design.inputs
    order = find_order(given, golden[stream.name])
    return {} if order is None else {stream.name: order}


def _network_frames(inputs: Any) -> NDArray[np.generic] | None:
    """Return the golden inputs as the user gave them; None if there are none, or they are not one array."""
    if inputs is None or not Path(inputs).is_file():
        return None
    import numpy as np

    values = _load(Path(inputs), "verify_input_npy must name an .npy file")
    return values if isinstance(values, np.ndarray) else None


def _load(path: Path, advice: str) -> NDArray[Any]:
    """Read an array.

    Raises:
        BuildError: The file is empty, cut, or no array.
    """
    import numpy as np

    try:
        values: NDArray[Any] = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise BuildError(f"{path} cannot be read: {error}\n  {advice}") from error
    return values


def _licences() -> dict[str, str]:
    """Return FINN's licence, under which its RTL is, and that of the cores here, as their distributions have them."""
    from brainsmith.rtl.package.licences import FINNS, OURS

    found = {}
    for name, distribution in ((FINNS, "finn-plus"), (OURS, "brainsmith")):
        try:
            files = metadata.files(distribution) or ()
        except metadata.PackageNotFoundError:  # it runs from its sources, which need not be installed
            continue
        for file in files:
            if file.name.startswith("LICENSE") and (".dist-info" in str(file) or len(file.parts) == 1):
                found[name] = file.read_text()
    return found


def _host(folder: Path, design: Design) -> dict[str, Any]:
    """Return what the host computes, if nodes were cut off."""
    from brainsmith.rtl.package.host_description import host_description

    parent = parent_model(folder)
    return {} if parent is None else host_description(design, parent)
