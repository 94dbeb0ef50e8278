"""How fast and how exact the target `numpy` is, against QONNX's own `execute_onnx`, side by side in one run.

    python benchmarks/targets.py                 # networks that ship, and those of the qonnx package
    python benchmarks/targets.py --model M --input X.npy     # another network

Each network is executed by both: the reference on the whole test set, or on `--reference` samples of it, one by one,
of which the fastest counts; `numpy` on the whole test set, of which the fastest of `--repeats` counts; of both the
processor's time, which a busy machine does not change. Of tensors of whole numbers the values that differ are counted
(0 and -0 do not). All others are compared by the largest error, relative to the largest value of the tensor, and by
the share of values that are further away than 1e-6: where a float is rounded to a level behind a sum of floats, an
error of the last bit moves a few values to the next level. `prepare` is measured in further processes, after the
import of NumPy and with that of the target, which decides what is left to import: the least wall time, and the least of
the processor.
"""

from __future__ import annotations

import argparse
import atexit
import importlib
import importlib.resources
import json
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
DIGITS = ROOT / "examples/digits"
TOLERANCE = 1e-6

PREPARE = """
import json, sys, time
import numpy
started, busy = time.perf_counter(), time.process_time()
from brainsmith.targets.numpy import NumpyExecution
prepared = NumpyExecution().prepare_resource(sys.argv[1])
seconds = time.perf_counter() - started, time.process_time() - busy
loaded = [name for name in ("onnx", "qonnx", "onnxruntime") if name in sys.modules]
print(json.dumps({"seconds": seconds, "loaded": loaded}))
"""


@dataclass
class Network:
    """A model and its test set (samples, ...) in the model's own shape."""

    name: str
    model: Path
    inputs: np.ndarray[Any, Any]


def networks() -> list[Network]:
    """Return the networks that are there wherever this project is."""
    folder = Path(str(importlib.resources.files("qonnx"))) / "data/onnx/bsd300x3-espcn"
    espcn = real_input(folder / "test_data/input_0.pb")
    flat, images = np.load(DIGITS / "digits_mlp_x.npy"), np.load(DIGITS / "digits_cnn_x.npy")
    return [
        Network("digits MLP", DIGITS / "mlp.onnx", flat),
        Network("digits CNN", DIGITS / "cnn.onnx", images),
        Network("digits binary MLP", DIGITS / "binary_mlp.onnx", flat),
        Network("digits residual", DIGITS / "residual.onnx", images),
        tfc_w1a1(),
        Network("espcn, nearest", folder / "nn_resize/quant_model.onnx", espcn),
        Network("espcn, subpixel", folder / "subpixel/quant_model.onnx", espcn),
    ]


@cache
def tfc_w1a1() -> Network:
    """Return FINN's TFC with 1-bit weights and activations: random weights, and as many random images as MNIST tests."""
    sys.path.insert(0, str(ROOT))
    tfc = importlib.import_module("tests.build.binary_graphs").tfc
    folder = Path(tempfile.mkdtemp(prefix="brainsmith-tfc-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    pixels = np.random.default_rng(0).integers(0, 256, (10_000, 784)).astype(np.float32)
    return Network("TFC w1a1", tfc(folder / "tfc_w1a1.onnx"), pixels)


def real_input(file: Path) -> np.ndarray[Any, Any]:
    """Read a tensor as the qonnx package ships it."""
    import onnx

    tensor = onnx.TensorProto.FromString(file.read_bytes())
    return np.asarray(onnx.numpy_helper.to_array(tensor), np.float32)


def measure(network: Network, reference: int | None, repeats: int) -> dict[str, Any]:
    """Run one network by both, and compare."""
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.runnable import runnable_copy
    from brainsmith.targets.numpy import NumpyExecution

    target = NumpyExecution()
    prepared = target.prepare_resource(network.model)
    signature = prepared.payload.signature
    (spec,) = signature.inputs
    inputs = network.inputs.reshape(-1, *spec.shape[1:]).astype(spec.dtype)
    target.execute(prepared, inputs[: 2 * spec.shape[0]])
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        target.execute(prepared, inputs)
        seconds.append(time.process_time() - started)
    few = inputs if reference is None else inputs[: reference * spec.shape[0]]
    model = runnable_copy(ModelWrapper(str(network.model)))
    expected, spent = run_reference(model, spec, few)
    kept = target.execute(prepared, few, keep=None)
    each, each_reference = min(seconds) / (len(inputs) / spec.shape[0]), spent
    return {
        "network": network.name,
        "samples": len(inputs) // spec.shape[0],
        "reference_us": 1e6 * each_reference,
        "numpy_us": 1e6 * each,
        "speedup": each_reference / each,
        **differences(model, expected, kept, [s.name for s in signature.outputs]),
        "prepare_ms": [1e3 * seconds for seconds in prepare_seconds(network.model)],
    }


def run_reference(model: Any, spec: Any, inputs: np.ndarray[Any, Any]) -> tuple[list[dict[str, Any]], float]:
    """Return all tensors of each run of QONNX's own execution, and the seconds of the fastest."""
    from qonnx.core.onnx_exec import execute_onnx

    runs = inputs.reshape(-1, *spec.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        execute_onnx(model, {spec.name: runs[0]})
        tensors, seconds = [], []
        for run in runs:
            started = time.process_time()
            tensors.append(execute_onnx(model, {spec.name: run}, True))
            seconds.append(time.process_time() - started)
        return tensors, min(seconds)


def differences(
    model: Any, expected: list[dict[str, Any]], kept: dict[str, Any], outputs: list[str]
) -> dict[str, Any]:
    """Compare all tensors: differing whole numbers, relative errors of others, classes of the first output."""
    differing, worst, beyond, total = 0, 0.0, 0, 0
    for name, stack in kept.items():
        reference = np.concatenate([np.atleast_1d(run[name]) for run in expected])
        if model.get_tensor_datatype(name).is_integer() or np.array_equal(reference, np.round(reference)):
            differing += int((reference != stack).sum())
        else:
            scale = max(float(np.abs(reference).max()), 1e-30)
            apart = np.abs(reference - stack) / scale
            worst, total = max(worst, float(apart.max())), total + apart.size
            beyond += int((apart > TOLERANCE).sum())
    first = np.concatenate([np.atleast_1d(run[outputs[0]]) for run in expected])
    same = predictions(first) == predictions(kept[outputs[0]])
    share = beyond / max(total, 1)
    return {
        "differing": differing,
        "relative": worst,
        "beyond": share,
        "predictions": f"{int(same.sum())}/{len(same)}",
    }


def predictions(stack: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the class of each row: its largest value, or its only one."""
    flat = stack.reshape(len(stack), -1)
    return flat[:, 0] if flat.shape[1] == 1 else flat.argmax(axis=1)


def prepare_seconds(model: Path, processes: int = 5) -> tuple[float, float]:
    """Return the least wall and processor time in which a further process prepares an unchanged model."""
    found = []
    for _ in range(processes):
        done = subprocess.run(
            [sys.executable, "-c", PREPARE, str(model)], capture_output=True, text=True, check=True
        )
        told = json.loads(done.stdout)
        assert told["loaded"] == [], told
        found.append(told["seconds"])
    return min(wall for wall, _ in found), min(busy for _, busy in found)


def main() -> None:
    """Print a row for each network."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reference", type=int, help="samples that execute_onnx runs (all)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--model", type=Path, help="another network")
    parser.add_argument("--input", type=Path, help="its inputs, a .npy file")
    parser.add_argument("--repeat-input", type=int, default=1, help="how often they make up the test set")
    parser.add_argument("--only", help="networks whose name has this in it")
    chosen = parser.parse_args()
    if chosen.model:
        values = np.load(chosen.input)
        listed = [Network(chosen.model.stem, chosen.model, np.concatenate([values] * chosen.repeat_input))]
    else:
        listed = [network for network in networks() if not chosen.only or chosen.only in network.name]
    print(
        f"{'network':18}{'samples':>8}{'reference':>12}{'numpy':>12}{'faster':>9}{'differ':>7}{'relative':>10}{'beyond':>9}"
        f"{'same':>13}{'prepare':>11}{'processor':>12}"
    )
    for network in listed:
        row = measure(network, chosen.reference, chosen.repeats)
        wall, busy = row["prepare_ms"]
        print(
            f"{row['network']:18}{row['samples']:8}{row['reference_us']:9.0f} us{row['numpy_us']:9.1f} us"
            f"{row['speedup']:8.0f}x{row['differing']:7}{row['relative']:10.1e}{row['beyond']:9.1e}{row['predictions']:>13}"
            f"{wall:8.1f} ms{busy:9.1f} ms",
            flush=True,
        )


if __name__ == "__main__":
    main()
