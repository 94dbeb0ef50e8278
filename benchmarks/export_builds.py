"""Build one export of Brevitas with a blueprint of three lines, in a process of its own, and compare it with torch."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from measure import ROOT, environment

FRONT = "cleanup, integer, hardware_inference, specialize, fold, estimate"
LAST = {
    "integer": "steps: [cleanup, integer]",
    "estimates": "output: estimates",
    "stitched": f"steps: [{FRONT}, rtl_codegen, rtl_stitch]",
    "simulated": "output: simulated",
    "unsearched": (
        "args: {rtl_size_fifos: {search: false}, rtl_simulate: {seeds: 1, frames: 3}}\n  output: simulated"
    ),
}
"""The blueprint's last line, by how far is built; `unsearched` is `simulated` with FIFOs as deep as first measured."""
CIRCUITS = ("simulated", "unsearched")

SAMPLES, FEW = 16, 2
"""How many unseen inputs are compared; of networks of full size few."""
RELATIVE = 1e-5
"""The largest difference of floats behind the last quantiser, as a part of the largest output."""

FRAMES_PER_SECOND = {"mobilenet_full": 20, "resnet18_full": 100, "autoencoder": 50_000}
DENSE, CONVOLUTIONAL = 100_000, 20_000
INPUTS = {"cyber_mlp": "BIPOLAR"} | dict.fromkeys(
    ("mobilenet", "mobilenet_full", "resnet_shared", "resnet18_full"), "UINT8"
)
"""What the model itself does not say of its inputs: those that no quantiser follows."""

ERROR = {"attention": 0.1}
"""The largest error of outputs from torch's, of networks that need the line `approximate:`."""
_ALLOWED = "{error: 4.0, classes: 500}"
"""What each step may change outputs by on the build's own random inputs, which are farther apart than real ones."""

RIGHT, REFUSED, WRONG, RAW = "right", "refused", "WRONG", "RAW"


@dataclass
class Ended:
    """How one network ended.

    Attributes:
        kind: `right`; `refused` with node and reason; `WRONG` outputs; `RAW`, an error of Python, FINN or numpy.
        text: The reason.
        seconds: Of the build.
        differing: Outputs that are not torch's, in samples that no tie decides.
        ties: Samples in which float32 decides a tie.
        interval: Measured cycles of a frame.
        estimated: Estimated cycles of a frame.
        error: The largest difference from torch's outputs.
        megabytes: Peak memory of the largest process of the build: the one that built it, or one that it started.
        layers: How many hardware layers there are, and how many of them have RTL.
        alone: How many layers are right, simulated alone with all of a frame, and how many were simulated; width
            converters are layers there.
    """

    kind: str
    text: str = ""
    seconds: float = 0.0
    differing: int = 0
    ties: int = 0
    interval: float | None = None
    estimated: float | None = None
    error: float = 0.0
    megabytes: float = 0.0
    layers: tuple[int, int] = (0, 0)
    alone: tuple[int, int] = (0, 0)

    @property
    def ratio(self) -> float | None:
        """Cycles measured over cycles estimated."""
        return self.interval / self.estimated if self.interval and self.estimated else None


def built_apart(folder: Path, name: str, produce: str, keep: Path | None, fps: int = 0) -> Ended:
    """Build one network in a process of its own, with empty caches.

    Args:
        folder: Of benchmarks/exports.py.
        name: The network's.
        produce: How far to build, as `LAST` names it.
        keep: Where to leave the build, if anywhere.
        fps: Its target rate; 0 for the one that is kept here.
    """
    with tempfile.TemporaryDirectory(prefix="brainsmith-networks-") as scratch:
        command = [sys.executable, "-W", "ignore", __file__, str(folder), name, produce]
        command += [str(keep or scratch), str(fps)]
        env = {**environment(Path(scratch) / "cache"), "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()
        process.wait()
    if not lines or not lines[-1].startswith("{"):
        return Ended(RAW, "the process that built it died")
    return Ended(**json.loads(lines[-1]))


def _built(folder: Path, name: str, produce: str, keep: Path, fps: int) -> Ended:
    """Build one network in this process, and compare."""
    import contextlib
    import logging
    import traceback

    from brainsmith.build import build
    from brainsmith.errors import BrainsmithError, BuildError

    logging.disable(logging.WARNING)
    out = keep / name
    out.mkdir(parents=True, exist_ok=True)
    blueprint = out / "blueprint.yaml"
    blueprint.write_text(blueprint_of(name, produce, fps))
    begin = time.perf_counter()
    try:
        with contextlib.redirect_stdout(None):
            result = build(folder / f"{name}.onnx", blueprint, out / "out", use_cache=False, report=False)
    except BrainsmithError as error:
        cause = error.__cause__
        raw = isinstance(error, BuildError) and cause is not None and not isinstance(cause, BrainsmithError)
        return Ended(
            RAW if raw else REFUSED,
            _one_line(str(error).split("what the steps said")[0]),
            time.perf_counter() - begin,
        )
    except Exception:  # noqa: BLE001 - whatever comes out of a build is what is looked for
        return Ended(RAW, _one_line(traceback.format_exc(limit=-2)), time.perf_counter() - begin)
    seconds, megabytes = time.perf_counter() - begin, _peak_megabytes()  # before torch's outputs are compared
    with contextlib.redirect_stdout(None):
        rtl: dict[str, Any] = result.report["rtl"] or {}
        # Where a frame of the whole circuit takes too long, it is not simulated here either.
        circuit = produce in CIRCUITS and not rtl.get("parts")
        built, device = (out / "out", "rtlsim") if circuit else (result.model, "numpy")
        found = (0, 0, 0.0) if produce == "stitched" else _compared(folder, name, built, device)
    differing, ties, furthest = found
    text = f"error {furthest:.3g}, allowed {ERROR[name]:g}" if name in ERROR else ""
    text = rtl["parts"]["text"] if rtl.get("parts") else text
    kind = WRONG if differing else RIGHT
    ended = Ended(kind, text, seconds, differing, ties, error=furthest, megabytes=megabytes)
    layers = result.report["layers"] or []
    with_rtl = sum(layer["op_type"].endswith("_rtl") for layer in layers)
    cycles = rtl.get("interval_cycles"), rtl.get("interval_estimate")
    ran = rtl.get("layers") or ()
    alone = sum(layer["wrong"] == 0 and layer["share"] == 1 for layer in ran), len(ran)
    return replace(
        ended, interval=cycles[0], estimated=cycles[1], layers=(len(layers), with_rtl), alone=alone
    )


def _peak_megabytes() -> float:
    """Return the peak memory of the largest one of this process and those that it started and that have ended."""
    ran = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(who).ru_maxrss for who in ran) * 1024 / 1e6


def blueprint_of(name: str, produce: str, fps: int = 0) -> str:
    """Return the blueprint with which a network is built: three lines, and what the model does not say of itself."""
    dense = "mlp" in name or name.split("_")[0] in ("tfc", "sfc", "lfc")
    rate = fps or FRAMES_PER_SECOND.get(name, DENSE if dense else CONVOLUTIONAL)
    steps = ["integer"] if produce == "integer" else ["integer", "hardware_inference"]
    allowed = ", ".join(f"{step}: {_ALLOWED}" for step in steps)
    line = f"  inputs: {{datatype: {INPUTS[name]}}}\n" if name in INPUTS else ""
    if name in ERROR:
        line = f"  verify: {{approximate: {{{allowed}}}}}\n"
    return (
        f"hw_compiler:\n  target: {{part: xczu7ev-ffvc1156-2-e, clock: 200 MHz, fps: {rate}}}\n{line}"
        f"  {LAST[produce]}\n"
    )


def _compared(folder: Path, name: str, built: Path, device: str) -> tuple[int, int, float]:
    """Count outputs that are not torch's, and samples in which float32 decides a tie; return the largest error, too."""
    from brainsmith.targets import ResourceManager

    count = FEW if name.endswith("_full") else SAMPLES
    samples = np.load(folder / f"{name}_x.npy")[:count].astype(np.float32)
    expected = np.load(folder / f"{name}_y.npy")[:count]
    with ResourceManager({"device": device}) as manager:
        prepared = manager.prepare_resource(str(built), device=device)
        assert prepared.signature is not None
        results = manager.execute(prepared, {prepared.signature.inputs[0].name: samples})
    (found,) = results.values()
    near = ERROR.get(name, RELATIVE * max(1.0, float(np.abs(expected).max())))
    errors = np.abs(found.reshape(expected.shape) - expected).reshape(len(samples), -1)
    differ = errors > near
    out = built if built.is_dir() else built.parent
    tied = [at for at in np.flatnonzero(differ.any(axis=1)) if _tied(out, samples[at], found[at])]
    untied = np.delete(errors, tied, axis=0)
    return int((untied > near).sum()), len(tied), float(untied.max(initial=0.0))


def _tied(out: Path, sample: np.ndarray[Any, Any], found: np.ndarray[Any, Any]) -> bool:
    """Tell whether what was found is an evaluation of the network that differs from its own floats by float ties alone."""
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.comparison.float_ties.float_network import FloatNetwork
    from brainsmith.comparison.float_ties.layer_levels import LayerLevels
    from brainsmith.transforms.integer.batch_of_one import with_batch_of_one

    files = sorted((out / "checkpoints").glob("*.onnx"))
    at = next((at for at, file in enumerate(files) if file.stem.endswith("_integer")), 0)
    if not at:
        return False
    network = FloatNetwork(with_batch_of_one(ModelWrapper(str(files[at - 1])))[0])
    ends = network.signature.inputs[0], network.signature.outputs[0]
    feed, outputs = (
        {end.name: each.reshape(1, *end.shape)} for end, each in zip(ends, (sample, found), strict=True)
    )
    (explained,) = LayerLevels(ModelWrapper(str(files[at]))).explain(network, feed, outputs)
    return not explained.wrong


def _one_line(text: str) -> str:
    return " | ".join(line.strip() for line in text.splitlines())[:400]


if __name__ == "__main__":
    folder, name, produce, keep, fps = sys.argv[1:]
    print(json.dumps(asdict(_built(Path(folder), name, produce, Path(keep), int(fps)))))
