"""`brainsmith simulate`: run a packed accelerator again, from its own files."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.cli.array_options import Inputs, check_output, described, write_arrays
from brainsmith.cli.terminal import complain
from brainsmith.figures import plural, share

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.rtl.package.reading import AcceleratorPackage
    from brainsmith.rtl.package.rerun import Rerun

_SHOWN = 10


def run(options: Options, terminal: Terminal) -> int:
    """Simulate and print the result; return 1 if frames with golden inputs do not have the golden outputs."""
    frames, limit = (options.whole(name, None, least=1) for name in ("--frames", "--limit"))
    seed = options.whole("--stalls", None)
    from pathlib import Path

    from brainsmith.cli.live_line import shown
    from brainsmith.rtl.package.reading import read_package
    from brainsmith.rtl.package.rerun import simulate_package

    package = read_package(Path(options.required("DIR")))
    for change in package.changed:
        complain(f"warning: {package.folder}: {change}; it is simulated as it is")
    outputs = [stream.name for stream in package.design.outputs]
    inputs = [stream.name for stream in package.design.inputs]
    given, output = options.text("--input"), options.text("--output")
    if output is not None:
        check_output(Path(output))
    trace = options.text("--trace")
    arrays = None if given is None else Inputs(given).named(inputs)
    with shown(terminal):
        done = simulate_package(
            package,
            arrays,
            frames=frames,
            seed=seed,
            limit=limit,
            trace=None if trace is None else Path(trace),
        )
    terminal.pairs(_summary(package, done, golden=given is None))
    if output is not None:
        write_arrays(Path(output), {name: done.outputs[name] for name in outputs})
        terminal.pairs([("output  ", f"{output}: {described(done.outputs)}")])
    if trace is not None:
        terminal.pairs([("waves   ", trace)])
    return 1 if done.wrong else 0


def _summary(package: AcceleratorPackage, done: Rerun, golden: bool) -> list[tuple[str, str]]:
    result = done.result
    source = "golden inputs" if golden else "inputs"
    shares = ", ".join(f"{name} {share(result.stalled_share(name), 0)}" for name in result.streams)
    stalled = sum(traffic.stalled for traffic in result.streams.values())
    pairs = [
        ("frames", f"{done.frames:,} {source}"),
        ("golden", _golden(done)),
        ("cycles", f"{result.cycles:,}" + (f"; stalled: {shares}" if stalled else "")),
        ("interval", _interval(package, done)),
        ("latency", plural(done.latency, "cycle")),
        ("speed", f"{result.cycles_per_second:,.0f} cycles/s"),
    ]
    return [("design", f"{package.design.top} in {package.folder}"), *pairs]


def _interval(package: AcceleratorPackage, done: Rerun) -> str:
    if done.interval is None:
        return f"not measured with one frame; estimated {plural(package.design.interval, 'cycle')}"
    return plural(done.interval, "cycle")


def _golden(done: Rerun) -> str:
    if not done.compared:
        return "no frame has the golden inputs, so none was compared"
    equal = done.compared - len(done.wrong)
    text = f"{equal:,} of {done.compared:,} frames with golden inputs have the golden outputs"
    if not done.wrong:
        return text
    listed = ", ".join(map(str, done.wrong[:_SHOWN]))
    return f"{text}\nwrong: {listed}{' ...' if len(done.wrong) > _SHOWN else ''}"
