"""What holds of every backend: it computes what its kernel computes in Python, bit for bit, whatever stalls."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.errors import BuildError
from brainsmith.plugin import get_plugin_manager
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.rtl.cores.checking import PART, check_kernel, default_case, fed_case, layer_intervals
from brainsmith.rtl.cores.trial import golden_tensors, make_design, make_model
from brainsmith.rtl.verification.layers import verify_layers
from brainsmith.testing.transform_laws import differences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.rtl.cores.checking import KernelCheck
    from brainsmith.rtl.cores.trial import Case


def check_backend(
    backend: str,
    *,
    attributes: Mapping[str, int | str] | None = None,
    frames: int | None = None,
    seed: int = 0,
    part: str = PART,
) -> str:
    """Assert that a backend of a kernel that says its streams (`StreamKernel`) computes what the kernel does.

    The inputs are both ends of their ranges, all values in order as far as half of the frames go, and random ones. RTL is
    simulated without stalls and with random ones at all streams, and its cycles from frame to frame must be those that
    the kernel states. HLS C++ is compiled with g++ and run.

    Args:
        backend: Its name.
        attributes: Of the node; the kernel's defaults where they are not given.
        frames: To run, 3 or more; by default 64, and as many more as it takes for all values of inputs of up to 8 bits.
        seed: Of inputs and stalls.
        part: The FPGA.

    Returns:
        What was compared, in one line.

    Raises:
        TypeError: It is no name.
        AssertionError: A value differs, or the cycles do.
        BuildError: Its kernel does not say its streams.
        SimulationError: It cannot be compiled, or reports an error.
    """
    __tracebackhide__ = True
    if not isinstance(backend, str):
        raise TypeError(
            f"check_backend takes the name of a backend, such as 'acme:RectifyRTL', not {backend!r}"
        )
    info = get_plugin_manager().all_records()[0].resolve("backend", backend)
    case = _case(info, attributes)
    if info.backend_type == "hls":
        return _check_hls(info, fed_case(case, frames, seed))
    with TemporaryDirectory(prefix="brainsmith-") as folder:
        check = check_kernel(info, Path(folder), frames=frames, seed=seed, attributes=attributes, part=part)
    judge_circuit(backend, check)
    return str(check)


def judge_circuit(backend: str, check: KernelCheck) -> None:
    """Assert that every value of a simulation is right, and that it took the cycles that the kernel states."""
    __tracebackhide__ = True
    if not check.right:
        raise AssertionError(f"{backend}: {check}")
    if check.interval != check.estimate:
        raise AssertionError(
            f"{backend}: {check.interval:g} cycles from frame to frame without stalls, and its kernel states"
            f" {check.estimate}"
        )


def check_cases(
    cases: Sequence[Case], folder: Path, frames: int = 4, seed: int = 0, part: str = PART
) -> None:
    """Assert for nodes of RTL backends, all in one simulation, what `check_backend` asserts for one.

    Args:
        cases: The nodes; those without frames of their own get random ones.
        folder: Where their Verilog is generated.
        frames: To run, 3 or more.
        seed: Of inputs and stalls.
        part: The FPGA.
    """
    __tracebackhide__ = True
    model, design = make_design(cases, folder, part)
    golden = golden_tensors(model, cases, frames, seed)
    checks = verify_layers(design, golden, seed=seed + 1)
    wrong = [str(check) for check in checks if not check.right]
    if wrong:
        raise AssertionError("\n".join(wrong))
    assert len(checks) == len(cases)
    found, stated = layer_intervals(design, golden), {layer.name: layer.cycles for layer in design.layers}
    if found != stated:
        raise AssertionError(f"cycles from frame to frame: {found}, and the kernels state {stated}")


def _case(info: PluginInfo, attributes: Mapping[str, int | str] | None) -> Case:
    """Return a node of a backend whose class states its streams."""
    prepare_finn()
    from brainsmith.hls.node import HlsNode
    from brainsmith.rtl.cores.stream_kernel import StreamKernel

    bases = (StreamKernel, HlsNode) if info.backend_type == "hls" else (StreamKernel,)
    lacking = [base.__name__ for base in bases if not issubclass(info.load(), base)]
    if lacking:
        raise BuildError(
            f"check_backend cannot try {info.qualified}: its class does not derive from {' and '.join(lacking)}, so how it"
            " is fed is not known\n  check_cases tries nodes of any RTL backend"
        )
    return default_case(info, attributes or {})


def _check_hls(info: PluginInfo, case: Case) -> str:
    """Compile a backend's C++, run it, and compare."""
    __tracebackhide__ = True
    from qonnx.custom_op.registry import getCustomOp

    from brainsmith.hls.layer import HlsLayer

    model = make_model([case])
    layer = getCustomOp(model.graph.node[0])
    assert case.frames
    count = len(case.frames[0])
    golden = golden_tensors(model, [case], count, 0)
    fed: dict[str, Any] = {name: golden[name].astype(np.float32) for name in layer.onnx_node.input}
    found = HlsLayer(layer, layer.hls_program(), layer.calls()).run(fed)
    for name in layer.onnx_node.output:
        judge_program(info.name, name, golden[name], found[name])
    return f"{info.name}: {count} frames of its C++ are what the kernel computes"


def judge_program(backend: str, output: str, golden: Any, found: Any) -> None:
    """Assert that every value of an output is the kernel's; golden and found are (frames, *shape)."""
    __tracebackhide__ = True
    names = ("by the kernel", "by the C++")
    different = differences(golden.astype(np.float32), found.astype(np.float32), names=names)
    if different is not None:
        raise AssertionError(f"{backend}: output {output!r} of {len(golden)} frames differs: {different}")
