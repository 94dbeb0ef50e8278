"""Build real exports of Brevitas as they are, with a blueprint of three lines, and compare with torch.

    python benchmarks/exports.py FOLDER                   # makes them; needs torch and brevitas, here or elsewhere
    python benchmarks/networks.py FOLDER                  # builds all of them to a simulated circuit
    python benchmarks/networks.py FOLDER unet kws_conv1d
    python benchmarks/networks.py FOLDER --produce integer    # the front end alone; or `estimates`

A network is right if what was built gives torch's outputs on inputs that the build did not see, up to float32's rounding of
the last layer; samples in which float32 decides a tie are counted apart. The exit code is 1 if one is wrong, or ends in an
error of Python, FINN or numpy. Each is built in a process of its own, with caches of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measure import ROOT, environment

LAST = {
    "integer": "steps: [cleanup, integer]",
    "estimates": "output: estimates",
    "simulated": "output: simulated",
}
"""The blueprint's last line, by how far is built."""

SAMPLES = 16
RELATIVE = 1e-5
"""The largest difference of floats behind the last quantiser, as a part of the largest output."""

FRAMES_PER_SECOND = {"mobilenet_full": 20, "resnet18_full": 100, "autoencoder": 50_000}
DENSE, CONVOLUTIONAL = 100_000, 20_000
LINES = {"cyber_mlp": "  inputs: {datatype: BIPOLAR}\n"} | dict.fromkeys(
    ("mobilenet", "mobilenet_full", "resnet_shared", "resnet18_full"), "  inputs: {datatype: UINT8}\n"
)
"""What the model itself does not say of its inputs: those that no quantiser follows."""

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
    """

    kind: str
    text: str = ""
    seconds: float = 0.0
    differing: int = 0
    ties: int = 0
    interval: float | None = None
    estimated: float | None = None


def main() -> int:
    """Build what the command line names; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="of benchmarks/exports.py")
    parser.add_argument("names", nargs="*", help="all in the folder but those of full size, if none is named")
    parser.add_argument("--produce", choices=tuple(LAST), default="simulated")
    parser.add_argument("--keep", type=Path, help="leave the builds in this folder")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.names or sorted(
        path.stem for path in options.folder.glob("*.onnx") if not path.stem.endswith("_full")
    )
    if options.one:
        print(json.dumps(asdict(_built(options.folder, names[0], options.produce, options.keep))))
        return 0
    print(
        f"  {'':<16} {'':<8} {'seconds':>7} {'MB':>6} {'interval':>9} {'estimated':>9} {'ratio':>6} {'differ':>6} "
        f"{'ties':>4}"
    )
    kinds = [_shown(name, *_apart(options, name)) for name in names]
    print(f"{kinds.count(RIGHT)} of {len(kinds)} right")
    return int(WRONG in kinds or RAW in kinds)


def _apart(options: argparse.Namespace, name: str) -> tuple[Ended, float]:
    """Build one network in a process of its own; return also its peak memory, in MB."""
    with tempfile.TemporaryDirectory(prefix="brainsmith-networks-") as folder:
        keep = options.keep or Path(folder)
        command = [sys.executable, "-W", "ignore", __file__, str(options.folder), name, "--one"]
        command += ["--produce", options.produce, "--keep", str(keep)]
        env = {**environment(Path(folder) / "cache"), "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()
        _, _, usage = os.wait4(process.pid, 0)
    megabytes = usage.ru_maxrss * 1024 / 1e6
    if not lines or not lines[-1].startswith("{"):
        return Ended(RAW, "the process that built it died"), megabytes
    return Ended(**json.loads(lines[-1])), megabytes


def _shown(name: str, ended: Ended, megabytes: float) -> str:
    """Print a line; return how it ended."""
    ratio = f"{ended.interval / ended.estimated:.3f}" if ended.interval and ended.estimated else ""
    cycles = [f"{value or 0:>9,.0f}" for value in (ended.interval, ended.estimated)]
    print(
        f"  {name:<16} {ended.kind:<8} {ended.seconds:>7.1f} {megabytes:>6.0f} {cycles[0]} {cycles[1]} {ratio:>6} "
        f"{ended.differing:>6} {ended.ties:>4}  {ended.text}",
        flush=True,
    )
    return ended.kind


def _built(folder: Path, name: str, produce: str, keep: Path) -> Ended:
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
    blueprint.write_text(blueprint_of(name, produce))
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
    seconds = time.perf_counter() - begin
    with contextlib.redirect_stdout(None):
        built, device = (out / "out", "rtlsim") if produce == "simulated" else (result.model, "numpy")
        differing, ties = _compared(folder, name, built, device)
    rtl: dict[str, Any] = result.report["rtl"] or {}
    kind = WRONG if differing else RIGHT
    return Ended(kind, "", seconds, differing, ties, rtl.get("interval_cycles"), rtl.get("interval_estimate"))


def blueprint_of(name: str, produce: str) -> str:
    """Return the blueprint with which a network is built."""
    dense = "mlp" in name or name.split("_")[0] in ("tfc", "sfc", "lfc")
    rate = FRAMES_PER_SECOND.get(name, DENSE if dense else CONVOLUTIONAL)
    return (
        f"hw_compiler:\n  target: {{part: xczu7ev-ffvc1156-2-e, clock: 200 MHz, fps: {rate}}}\n{LINES.get(name, '')}"
        f"  {LAST[produce]}\n"
    )


def _compared(folder: Path, name: str, built: Path, device: str) -> tuple[int, int]:
    """Count outputs that are not torch's, and samples in which float32 decides a tie."""
    from brainsmith.targets import ResourceManager

    samples = np.load(folder / f"{name}_x.npy")[:SAMPLES].astype(np.float32)
    expected = np.load(folder / f"{name}_y.npy")[:SAMPLES]
    with ResourceManager({"device": device}) as manager:
        prepared = manager.prepare_resource(str(built), device=device)
        assert prepared.signature is not None
        results = manager.execute(prepared, {prepared.signature.inputs[0].name: samples})
    (found,) = results.values()
    near = RELATIVE * max(1.0, float(np.abs(expected).max()))
    differ = (np.abs(found.reshape(expected.shape) - expected) > near).reshape(len(samples), -1)
    out = built if built.is_dir() else built.parent
    tied = [at for at in np.flatnonzero(differ.any(axis=1)) if _tied(out, samples[at], found[at])]
    return int(np.delete(differ, tied, axis=0).sum()), len(tied)


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
    sys.exit(main())
