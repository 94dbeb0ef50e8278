"""rtl_simulate: run the circuit over all golden inputs, and trust it only where it computes what the model computes."""

from __future__ import annotations

import logging
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError, SimulationError, VerificationError
from brainsmith.figures import plural
from brainsmith.plugin.core import step
from brainsmith.plugin.processes import Workers
from brainsmith.progress import carried, wait_for
from brainsmith.steps.design_files import take_design
from brainsmith.steps.golden_frames import GoldenFrames
from brainsmith.steps.own_frames import is_same, own_frames
from brainsmith.steps.step_reports import read_report, write_report, writing

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.stitching.design import Design
    from brainsmith.rtl.verification.design_verification import Verification
    from brainsmith.rtl.verification.frame_time import FrameTime
    from brainsmith.rtl.verification.parts import Parts
    from brainsmith.steps.own_frames import OwnFrames
    from brainsmith.steps.reduced_circuit import Reduced

FILE = "report/rtl_simulation.json"
"""What the step writes, in the output folder."""

SIZED = "report/rtl_fifos.json"
"""What rtl_size_fifos wrote, in the output folder."""

LONGEST = 600
"""Seconds that simulating one frame of the whole circuit may take."""

GOLDEN = "rtl/golden"
"""Where the frames go: one .npy file for each stream of the design."""

TRACE = "rtl/trace.vcd"

LAYER_CYCLES = 5_000_000
"""How long the layers are run alone at most: all frames that fit, and some in any case."""

_LEAST_FRAMES = 4

SLACK = 1.01
"""How many times the estimate the measured interval may be without a warning."""


@step(description="Simulate the circuit over all golden inputs, with and without stalls, bit for bit")
def rtl_simulate(
    model: ModelWrapper,
    cfg: Any,
    seeds: int = 3,
    limit: int | None = None,
    frames: int | None = None,
    trace: bool = False,
    frame_seconds: float = LONGEST,
) -> ModelWrapper:
    """Verify the design against the hardware model, and write `report/rtl_simulation.json` in `cfg.output_dir`.

    Each layer runs alone, with as many frames as five million cycles hold, then the whole design with all of them:
    without stalls, and with random ones at both ends. A layer that gives the same for all of them runs alone with inputs
    of its own, too. The frames are those of
    `cfg.verify_input_npy`, or random ones if that is None: 32, or as many as ten million cycles hold, 4 at least. They go
    to `rtl/golden`. After them run generated ones, which are compared and counted by themselves.

    Where simulating one frame of the whole would take longer than `frame_seconds`, the circuit is verified in parts: each
    layer alone on the activations of one frame (or as many as five million cycles hold), then sections of layers as they
    are stitched, then the whole circuit for the smallest image that its layers take, where there is one. The report
    says so, and the build has a shortfall.

    Args:
        model: With a stitched design.
        cfg: The build's configuration.
        seeds: Runs with random stalls; of a section, one.
        limit: Cycles after which a run is given up; it follows the estimate by default.
        frames: How many of the golden inputs are used, or how many random ones are made; all golden ones by default.
        trace: Whether to write the waveforms of the first frame to `rtl/trace.vcd`; not of a circuit in parts.
        frame_seconds: How long simulating one frame of the whole circuit may take, as it is predicted; 0 simulates parts
            in any case.

    Raises:
        VerificationError: The circuit computes something else; the layer at fault is named.
        SimulationStalledError: A run did not end; who waits for what.
        SimulationError: The simulation cannot be built, or its result cannot be trusted.
        BuildError: There is no design, or the golden inputs do not fit.
        OutputError: The output folder cannot be written.
        ToolError: Verilator or g++ is missing.
    """
    from brainsmith.rtl.verification.design_runs import is_short
    from brainsmith.rtl.verification.design_verification import build_verified, verify_design
    from brainsmith.rtl.verification.layers import check_layers

    _check_arguments(seeds=seeds, limit=limit, frames=frames)
    _check_seconds(frame_seconds)
    design = take_design(model, cfg)
    time = _predicted(design, cfg)
    if time.seconds > frame_seconds:
        _simulate_parts(model, cfg, design, time, frame_seconds, seeds, frames)
        return model
    golden = GoldenFrames(model, design, cfg, frames, generate=True)
    fitting = max(_LEAST_FRAMES, LAYER_CYCLES // design.interval)
    count = min(fitting, len(next(iter(golden.inputs.values()))))
    chosen = range(1, seeds + 1)
    with Workers(1) as beside:  # of the layers and of the whole, and long before the layers ask for it
        built = beside.submit(carried(build_verified), design, golden.inputs, chosen)
        tensors = golden.tensors(count)
        wait_for(built)
    layers = check_layers(design, tensors)
    own = own_frames(model, design, tensors)
    if own is not None:  # in the same simulation
        check_layers(design, own.fed, given=own.given, quick=is_short(design, count))
    constant = _constant_outputs(golden, own)
    try:
        done = verify_design(
            design,
            golden.inputs,
            golden.outputs,
            chosen,
            limit=limit,
            tensors=golden.tensors,
            constant=list(constant),
        )
    except VerificationError as error:
        raise VerificationError(_with_origin(str(error), golden)) from error
    _warn_if_slow(done)
    report = {
        **asdict(done),
        "latency_estimate": _latency(model, cfg),
        "frames": golden.golden,
        "stalled_frames": golden.golden * len(done.runs),
        "generated_frames": golden.generated,
        "random": golden.random,
        "layers": [asdict(layer) for layer in layers],
        "constant_layers": [] if own is None else list(own.layers),
        "constant_outputs": constant,
    }
    _write(cfg, design, golden, report)
    if trace:
        _trace(design, golden, Path(cfg.output_dir) / TRACE)
    return model


def _latency(model: ModelWrapper, cfg: Any) -> int:
    """Return the estimate of a frame's cycles, of the layers that were stitched."""
    from brainsmith.steps.beat_flow import model_latency

    return model_latency(model, cfg._resolve_fpga_part(), cfg.synth_clk_period_ns)


def _constant_outputs(golden: GoldenFrames, own: OwnFrames | None) -> dict[str, list[int]]:
    """Return the values of outputs that are the same in all frames, and warn of each."""
    found = {name: stack[0] for name, stack in golden.outputs.items() if own is not None and is_same(stack)}
    names = ", ".join(own.still) if own is not None else ""
    still = f"; these have constant outputs all the same: {names}" if names else ""
    for name, values in found.items():
        text = str(values.flat[0]) if is_same(values.reshape(-1)) else "the same"
        logging.getLogger(__name__).warning(
            "output '%s' is always %s, for %s and %s: either the network's quantisers leave one level, or none of the "
            "inputs that were tried leads to another; so each layer was verified alone, with inputs made for it in %s%s",
            name, text, plural(golden.golden, "golden input"), plural(golden.generated, "generated one"),
            plural(len(own.layers) if own else 0, "layer"), still,
        )  # fmt: skip
    return {name: [int(value) for value in values.flat] for name, values in found.items()}


def _predicted(design: Design, cfg: Any) -> FrameTime:
    """Predict how long a frame takes; rtl_size_fifos has simulated the same design."""
    from brainsmith.rtl.verification.frame_time import predict

    sized = read_report(Path(cfg.output_dir) / SIZED) or {}
    return predict(design, sized.get("latency"), sized.get("cycles_per_second"))


def _simulate_parts(
    model: ModelWrapper,
    cfg: Any,
    design: Design,
    time: FrameTime,
    frame_seconds: float,
    seeds: int,
    frames: int | None,
) -> None:
    """Verify each layer alone, and sections of layers, with as many golden frames as five million cycles hold."""
    from brainsmith.rtl.verification.parts import verify_parts

    logging.getLogger(__name__).warning(
        "simulating a frame of the whole circuit would take %s, and %g s are allowed: each layer is simulated alone, and "
        "then sections of layers", time, frame_seconds,
    )  # fmt: skip
    count = max(1, LAYER_CYCLES // design.interval)
    golden = GoldenFrames(model, design, cfg, count if frames is None else min(frames, count))
    seed = 1 if seeds else None
    done = verify_parts(design, golden.tensors(golden.golden), frame_seconds, seed=seed)
    done, reduced = _with_reduced(done, model, design, golden, cfg, frame_seconds, seed)
    report = {
        **dict.fromkeys(("frames", "mismatches", "interval_cycles", "latency_cycles")),
        "interval_estimate": design.interval,
        "latency_estimate": _latency(model, cfg),
        "random": golden.random,
        "layers": [asdict(layer) for layer in done.layers],
        "parts": {
            "text": f"{done}; {reduced}" if reduced else str(done),
            "frames": done.frames,
            "sections": [asdict(section) for section in done.sections],
            "reduced": asdict(reduced) if reduced else None,
            "uncovered": list(done.uncovered),
            "frame_seconds": frame_seconds,
            "predicted_seconds": round(time.seconds, 1),
            "whole": f"a frame of it would take {time}, and frame_seconds of rtl_simulate allows {frame_seconds:g} s",
        },
    }
    _write(cfg, design, golden, report)


def _with_reduced(
    done: Parts,
    model: ModelWrapper,
    design: Design,
    golden: GoldenFrames,
    cfg: Any,
    seconds: float,
    seed: int | None,
) -> tuple[Parts, Reduced | None]:
    """Simulate the whole for a smaller image, and say what that, or its lack, leaves open."""
    from brainsmith.rtl.verification.parts import PART, REDUCED, SINGLE, WHOLE
    from brainsmith.steps.reduced_circuit import verify_reduced

    if WHOLE not in done.uncovered:
        return done, None
    try:
        reduced = verify_reduced(model, design, golden.inputs, cfg, max(seconds, PART), seed)
    except (VerificationError, SimulationError):
        raise
    except BuildError as error:
        first = str(error).splitlines()[0]
        return replace(done, uncovered=(*done.uncovered, f"nor was it for a smaller image: {first}")), None
    shown = {SINGLE} if reduced.frames > 1 else set()
    said = [REDUCED if text == WHOLE else text for text in done.uncovered if text not in shown]
    return replace(done, uncovered=tuple(said)), reduced


def _write(cfg: Any, design: Design, golden: GoldenFrames, report: dict[str, Any]) -> None:
    """Write the golden frames and the report."""
    folder = Path(cfg.output_dir) / GOLDEN
    with writing(folder):
        _write_frames(design, golden, folder)
    write_report(cfg, FILE, report)


def _check_seconds(seconds: float) -> None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds >= 0:
        raise BuildError(
            f"frame_seconds of rtl_simulate must be a number of seconds, 0 or more, not {seconds!r}"
        )


def _with_origin(text: str, golden: GoldenFrames) -> str:
    """Say which frames are not golden, where the build generated some."""
    if not golden.generated:
        return text
    return (
        f"{text}\n  frames from {golden.golden} on are generated (extremes, patterns, values around thresholds), beside "
        "the golden inputs"
    )


def _check_arguments(seeds: int, **optional: int | None) -> None:
    if not isinstance(seeds, int) or seeds < 0:
        raise BuildError(f"seeds of rtl_simulate must be a number of runs, 0 or more, not {seeds!r}")
    for name, value in optional.items():
        if value is not None and (not isinstance(value, int) or value < 1):
            raise BuildError(f"{name} of rtl_simulate must be a whole number, 1 or more, not {value!r}")


def _warn_if_slow(done: Verification) -> None:
    if done.interval_cycles is not None and done.interval_cycles > SLACK * done.interval_estimate:
        over = done.interval_cycles / done.interval_estimate - 1
        logging.getLogger(__name__).warning(
            "the circuit needs %.1f cycles per frame, %.0f %% more than the estimate of %d: FIFOs that are too small "
            "slow layers down; run the step rtl_size_fifos first, or give it more frames",
            done.interval_cycles, 100 * over, done.interval_estimate,
        )  # fmt: skip


def _write_frames(design: Design, golden: GoldenFrames, folder: Path) -> None:
    """Write whole tensors, in the smallest type of integers that holds them."""
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    for stream in (*design.inputs, *design.outputs):
        tensors = golden.inputs if stream in design.inputs else golden.outputs
        bits = next(size for size in (8, 16, 32, 64) if size >= stream.layout.lane_bits)
        kind = np.dtype(f"{'int' if stream.layout.span[0] < 0 else 'uint'}{bits}")
        np.save(folder / f"{stream.name}.npy", tensors[stream.layout.tensor][: golden.golden].astype(kind))


def _trace(design: Design, golden: GoldenFrames, file: Path) -> None:
    from brainsmith.rtl.simulation.simulator_build import build_simulator
    from brainsmith.rtl.stitching.top_module import plan_design
    from brainsmith.rtl.verification.design_runs import is_short, run_design

    simulator = build_simulator(plan_design(design, trace=True), quick=is_short(design, 1))
    first = {name: tensor[:1] for name, tensor in golden.inputs.items()}
    # A single frame may well have one value in all beats.
    constant = [stream.name for stream in design.outputs]
    run_design(simulator, design, first, constant=constant, trace=file)
