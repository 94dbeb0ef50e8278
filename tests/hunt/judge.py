"""Build a network, and compare what came of it with the network itself on inputs that the build did not see."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from onnxruntime import InferenceSession
from qonnx.core import onnx_exec
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.build import build
from brainsmith.errors import BrainsmithError, BuildError, VerificationError
from brainsmith.execution.align import align
from brainsmith.execution.execute import Executor
from brainsmith.graph.ends import numpy_type
from tests.hunt.inputs import golden_inputs, unseen_inputs
from tests.hunt.networks import Network
from tests.hunt.real_arithmetic import IntegerLevels, tied

BLUEPRINT = "hw_compiler:\n  target: {part: xczu7ev-ffvc1156-2-e, clock: 5 ns, fps: 1000}\n"
RTL_KERNELS = ("MVAU", "VVAU", "Thresholding", "ElementwiseMul", "ElementwiseAdd")
RTL_BLUEPRINT = (
    "hw_compiler:\n  target: {part: xcvc1902-vsva2197-2MP-e-S, clock: 5 ns, fps: 1000}\n  kernels:\n"
    + "".join(f"    - {{kernel: 'finn:{name}', backends: [rtl, hls]}}\n" for name in RTL_KERNELS)
)
"""On a Versal more of FINN's layers have RTL."""

CIRCUIT_SAMPLES = 16
RELATIVE = 1e-5
"""The largest difference of floats behind the last quantiser, as a part of the largest output."""

RIGHT, REFUSED, CAUGHT, WRONG, RAW = "right", "refused", "caught", "wrong", "raw"
DEFECTS = (WRONG, RAW)


@dataclass(frozen=True)
class Verdict:
    """How a network ended.

    Attributes:
        kind: `right`; `refused` with node and reason; `caught` by the build's own verification, also a refusal;
            `wrong`: the build succeeded, and what it made computes something else; `raw`: an error of Python, FINN or
            numpy came out.
        text: The reason, or what differs.
        undecided: Samples that differ by float ties alone: with these on their other side, the network gives the same.
    """

    kind: str
    text: str = ""
    undecided: int = 0


def judge(
    network: Network, produce: str, folder: Path, verified: bool = True, blueprint: str = BLUEPRINT
) -> Verdict:
    """Build a network as a user would, with a few golden inputs, and compare.

    Args:
        network: It.
        produce: How far to build: "estimates" compares the hardware layers' Python models, "simulated" the circuit.
        folder: Where to build.
        verified: Whether the build compares its steps with the network. Without that, only proofs keep it from being wrong.
        blueprint: Its text.
    """
    folder.mkdir(parents=True, exist_ok=True)
    blueprint_file = folder / "blueprint.yaml"
    blueprint_file.write_text(blueprint)
    file = folder / "network.onnx"
    file.write_bytes(network.file())
    golden = golden_inputs(network.shape, network.datatype, network.seed)
    try:
        with contextlib.redirect_stdout(None):
            result = build(
                file,
                blueprint_file,
                folder / "out",
                produce=produce,
                verify_inputs=golden if verified else None,
                verify=verified,
                use_cache=False,
                report=False,
            )
    except VerificationError as error:
        return Verdict(CAUGHT, _line(error))
    except BrainsmithError as error:
        return Verdict(RAW if _is_raw(error) else REFUSED, _line(error))
    except Exception:  # noqa: BLE001 - whatever comes out of a build is what is looked for
        return Verdict(RAW, traceback.format_exc(limit=-2))
    samples = unseen_inputs(network.shape, network.datatype, network.seed)
    if produce == "simulated":
        samples = samples[-CIRCUIT_SAMPLES:]
    expected = _joined(reference(network, samples))
    try:
        found = (
            _circuit(network, folder / "out", samples)
            if produce == "simulated"
            else _layers(network, result.model, samples)
        )
    except Exception:  # noqa: BLE001 - what a finished build cannot run is a defect, whatever it raises
        return Verdict(RAW, f"what was built does not run: {traceback.format_exc(limit=-2)}")
    return _compared(network, samples, expected, found, folder / "out" / "checkpoints")


def reference(network: Network, samples: np.ndarray) -> list[np.ndarray]:
    """Return the outputs of the network itself, by QONNX, sample by sample: one array for each output.

    Each node is executed as `execute_onnx` does; sessions of ONNX Runtime are made once, and so are constants.
    """
    model = network.wrapper().transform(InferShapes())
    version = model.get_opset_imports()
    known, varying = model.make_empty_exec_context(), {"x"}
    with kept_sessions() as made:
        nodes = []
        for node in model.graph.node:
            if varying.intersection(node.input):
                varying.update(node.output)
                nodes.append(node)
            else:
                onnx_exec.execute_node(node, known, model.graph, version[node.domain])
        first = {**known, "x": samples[0]}
        sessions = []
        for node in nodes:
            made.clear()
            onnx_exec.execute_node(node, first, model.graph, version[node.domain])
            sessions.append(made[0] if made else None)
    found = []
    for sample in samples:
        context = {**known, "x": sample}
        for node, session in zip(nodes, sessions, strict=True):
            if session is None:
                onnx_exec.execute_node(node, context, model.graph, version[node.domain])
            else:
                results = session.run(list(node.output), {name: context[name] for name in node.input})
                context.update(zip(node.output, results, strict=True))
        found.append([context[value.name] for value in model.graph.output])
    return [np.stack(outputs) for outputs in zip(*found, strict=True)]


@contextlib.contextmanager
def kept_sessions() -> Iterator[list[InferenceSession]]:
    """Give each session of ONNX Runtime that QONNX's execution makes, so that a node's is made once for all samples."""
    runtime, made = onnx_exec.rt, []

    def make(content: bytes) -> InferenceSession:
        made.append(runtime.InferenceSession(content))
        return made[-1]

    onnx_exec.rt = SimpleNamespace(InferenceSession=make)
    try:
        yield made
    finally:
        onnx_exec.rt = runtime


def _layers(network: Network, model: Path, samples: np.ndarray) -> np.ndarray:
    """Return what the hardware layers' Python models compute, in the shape of the network's output."""
    executor = Executor(ModelWrapper(str(model)))
    original = Executor(network.wrapper()).signature
    alignment = align(original, executor.signature)
    if alignment.reason:
        raise AssertionError(alignment.reason)
    results = executor.run({new: change(samples) for new, (_, change) in alignment.feed.items()})
    read = [alignment.read[value.name] for value in network.model.graph.output]
    return _joined([np.asarray(change(results[new])) for new, change in read])


def _circuit(network: Network, folder: Path, samples: np.ndarray) -> np.ndarray:
    """Return what the simulated circuit gives, with the host's part around it, in the network's own types."""
    from brainsmith.targets import ResourceManager

    with ResourceManager({"device": "rtlsim"}) as manager:
        prepared = manager.prepare_resource(str(folder), device="rtlsim")
        (name,) = (spec.name for spec in prepared.signature.inputs)
        results = manager.execute(prepared, {name: np.concatenate(samples)})
    for value, each in zip(network.model.graph.output, results.values(), strict=True):
        if each.dtype != numpy_type(value):
            raise AssertionError(
                f"output {value.name} is {each.dtype}, and {numpy_type(value)} in the network"
            )
    return _joined([each.reshape(len(samples), -1) for each in results.values()])


def _joined(outputs: list[np.ndarray]) -> np.ndarray:
    """Return an output, or several side by side, sample by sample."""
    if len(outputs) == 1:
        return outputs[0]
    return np.concatenate([each.reshape(len(each), -1) for each in outputs], axis=1)


def _compared(
    network: Network,
    samples: np.ndarray,
    expected: np.ndarray,
    found: np.ndarray,
    checkpoints: Path | None = None,
) -> Verdict:
    left, right = (array.reshape(len(samples), -1).astype(np.float64) for array in (expected, found))
    if left.shape != right.shape:
        return Verdict(
            WRONG, f"the outputs have shape {found.shape[1:]}, and the network's {expected.shape[1:]}"
        )
    size = 0.0 if network.exact else RELATIVE * max(1.0, float(np.max(np.abs(left), initial=0.0)))
    wrong = np.flatnonzero(~(np.abs(left - right) <= size).all(axis=1))
    ties = [] if network.exact else [at for at in wrong if tied(network, samples[at], right[at])]
    if len(ties) < len(wrong) and not network.exact and checkpoints is not None:
        levels = IntegerLevels(checkpoints)
        ties += [at for at in np.setdiff1d(wrong, ties) if levels.explain(samples[at], right[at])]
    wrong = np.setdiff1d(wrong, ties)
    if not len(wrong):
        return Verdict(RIGHT, undecided=len(ties))
    at = int(wrong[0])
    place = int(np.argmax(np.abs(left[at] - right[at])))
    return Verdict(
        WRONG,
        f"{len(wrong)} of {len(samples)} samples differ: sample {at}, output {place} is {right[at, place]:g}, "
        f"and {left[at, place]:g} in the network",
        len(ties),
    )


def _is_raw(error: BaseException) -> bool:
    """Tell whether an error of Python, FINN or numpy is what a build's error has in it."""
    return (
        isinstance(error, BuildError)
        and error.__cause__ is not None
        and not isinstance(error.__cause__, BrainsmithError)
    )


def _line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
