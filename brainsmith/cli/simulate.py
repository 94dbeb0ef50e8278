"""`brainsmith simulate`: run a packed accelerator again, from its own files."""

from __future__ import annotations

from brainsmith.cli.terminal import complain
from brainsmith.errors import OutputError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from numpy.typing import NDArray

    from brainsmith.cli.arguments import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.rtl.package.reading import Package
    from brainsmith.rtl.package.rerun import Rerun

_SHOWN = 10


def run(options: Options, terminal: Terminal) -> int:
    """Simulate and print what came of it; return 1 if frames with golden inputs do not have the golden outputs."""
    numbers = {name: _number(options, name, least) for name, least in _NUMBERS}
    from pathlib import Path

    from brainsmith.rtl.package.reading import read_package
    from brainsmith.rtl.package.rerun import simulate_package

    package = read_package(Path(options.required("DIR")))
    for change in package.changed:
        complain(f"warning: {package.folder}: {change}; it is simulated as it is")
    outputs = [stream.name for stream in package.design.outputs]
    inputs = [stream.name for stream in package.design.inputs]
    given, output = options.text("--input"), options.text("--output")
    if output is not None:
        _check_output(Path(output))
    trace = options.text("--trace")
    done = simulate_package(
        package,
        None if given is None else _read(given, inputs),
        frames=numbers["--frames"],
        seed=numbers["--stalls"],
        limit=numbers["--limit"],
        trace=None if trace is None else Path(trace),
    )
    terminal.pairs(_summary(package, done, golden=given is None))
    if output is not None:
        _write(Path(output), {name: done.outputs[name] for name in outputs})
        terminal.pairs([("output  ", f"{output}: {_described(done.outputs)}")])
    if trace is not None:
        terminal.pairs([("waves   ", trace)])
    return 1 if done.wrong else 0


_NUMBERS = (("--frames", 1), ("--stalls", 0), ("--limit", 1))


def _number(options: Options, name: str, least: int) -> int | None:
    text = options.text(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise UsageError(f"{name} must be a whole number, {least} or more, not {text!r}")
    return int(text)


def _read(name: str, streams: list[str]) -> dict[str, NDArray[Any]]:
    """Read the inputs: one array, or an .npz file with one for each stream."""
    from zipfile import BadZipFile

    import numpy as np

    try:
        values = np.load(name, allow_pickle=False)
        arrays = {"": values} if isinstance(values, np.ndarray) else dict(values)
    except FileNotFoundError as error:
        raise UsageError(f"--input: {name} is not there") from error
    except OSError as error:
        raise UsageError(f"--input: {name} cannot be read: {error.strerror}") from error
    except (ValueError, EOFError, BadZipFile) as error:
        raise UsageError(f"--input: {name} is no .npy or .npz file of plain numbers") from error
    if len(streams) == 1 and len(arrays) == 1:
        return {streams[0]: next(iter(arrays.values()))}
    if set(arrays) != set(streams):
        what = f"the arrays {', '.join(arrays)}" if "" not in arrays else "one array"
        raise UsageError(
            f"--input: {name} holds {what}, and the design has the inputs {', '.join(streams)}\n"
            "  give an .npz file with an array of each name: numpy.savez"
        )
    return arrays


def _check_output(path: Path) -> None:
    """Refuse, before anything is simulated, a file that cannot be written."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        what = "it is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise OutputError(f"--output: {path} cannot be written: {what}")


def _write(path: Path, outputs: Mapping[str, NDArray[Any]]) -> None:
    """Write the outputs: one array, or an .npz file where the design has several."""
    import numpy as np

    try:
        with path.open("wb") as file:
            if len(outputs) == 1:
                np.save(file, next(iter(outputs.values())))
            else:
                np.savez(file, allow_pickle=False, **outputs)
    except OSError as error:
        raise OutputError(f"--output: {path} cannot be written: {error.strerror}") from error


def _summary(package: Package, done: Rerun, golden: bool) -> list[tuple[str, str]]:
    result = done.result
    source = "golden inputs" if golden else "inputs"
    held = ", ".join(f"{name} {result.stalled_share(name):.0%}" for name in result.streams)
    stalled = sum(traffic.stalled for traffic in result.streams.values())
    pairs = [
        ("frames", f"{done.frames:,} {source}"),
        ("golden", _golden(done)),
        ("cycles", f"{result.cycles:,}" + (f"; held back: {held}" if stalled else "")),
        ("interval", _interval(package, done)),
        ("latency", f"{done.latency:,} cycles"),
        ("speed", f"{result.cycles_per_second:,.0f} cycles/s"),
    ]
    return [("design", f"{package.design.top} in {package.folder}"), *pairs]


def _interval(package: Package, done: Rerun) -> str:
    if done.interval is None:
        return f"not measured with one frame; estimated {package.design.interval:,} cycles"
    return f"{done.interval:,.1f} cycles"


def _golden(done: Rerun) -> str:
    if not done.compared:
        return "no frame has the golden inputs, so none was compared"
    equal = done.compared - len(done.wrong)
    text = f"{equal:,} of {done.compared:,} frames with golden inputs have the golden outputs"
    if not done.wrong:
        return text
    listed = ", ".join(map(str, done.wrong[:_SHOWN]))
    return f"{text}\nwrong: {listed}{' ...' if len(done.wrong) > _SHOWN else ''}"


def _described(outputs: Mapping[str, NDArray[Any]]) -> str:
    shown = [f"{values.shape} {values.dtype}" for values in outputs.values()]
    return shown[0] if len(shown) == 1 else ", ".join(f"{n} {t}" for n, t in zip(outputs, shown, strict=True))
