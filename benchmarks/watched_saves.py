"""How long it takes `brainsmith watch` from a save to the start of the first step that has to run.

A real process watches the digits MLP, whose blueprint has a step of a plugin folder as well. Another one saves files, by a
rename as editors do, and reads the time that the watch prints.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from measure import ROOT, compile_package, environment, row

if TYPE_CHECKING:
    from collections.abc import Callable

SAVED = 200
"""Milliseconds from a save to the first step."""

ROUNDS = 7

STEP = "from brainsmith import step\n\n\n@step\ndef mine(model, cfg):\n    return model  # {}\n"
BLUEPRINT = """\
hw_compiler:
  target: {{part: xczu7ev-ffvc1156-2-e, clock: 200 MHz, fps: {fps}}}
  verify: {{inputs: x.npy, labels: y.npy}}
  steps: [cleanup, integer, hardware_inference, specialize, fold, estimate, mine]
"""


def watched() -> None:
    """Save a plugin, the blueprint and the model in turn; the median of some rounds of each."""
    compile_package()
    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as name:
        folder = Path(name)
        (folder / ".brainsmith").mkdir()
        (folder / "plugins").mkdir()
        for source, target in (
            ("mlp.onnx", "m.onnx"),
            ("digits_mlp_x.npy", "x.npy"),
            ("digits_y.npy", "y.npy"),
        ):
            shutil.copy(ROOT / "examples" / "digits" / source, folder / target)
        saves: dict[str, Callable[[int], object]] = {
            "plugin": lambda n: _save(folder / "plugins" / "mine.py", STEP.format(n).encode()),
            "blueprint": lambda n: _save(folder / "b.yaml", BLUEPRINT.format(fps=200_000 + n).encode()),
            "model": lambda n: _save(folder / "m.onnx", _other_model(folder / "m.onnx", n)),
        }
        saves["plugin"](0)
        saves["blueprint"](0)
        env = environment(folder / "cache", PYTHONPATH=str(ROOT))
        command = [sys.executable, "-m", "brainsmith", "watch", "b.yaml", "m.onnx", "--output", "out"]
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            _next(process)
            for what, save in saves.items():
                taken = []
                for number in range(1, ROUNDS + 1):
                    save(number)
                    taken.append(_next(process))
                found = statistics.median(taken)
                print(f"  saved {what}, ms: {' '.join(map(str, taken))}")
                row(
                    f"from a saved {what} to the first step",
                    f"{found:.0f} ms",
                    f"{SAVED} ms",
                    reached=found <= SAVED,
                )
        finally:
            process.terminate()
            process.wait()


def _save(path: Path, data: bytes) -> None:
    other = path.with_suffix(".new")
    other.write_bytes(data)
    os.replace(other, path)


def _other_model(path: Path, number: int) -> bytes:
    import onnx

    model = onnx.load(path)
    for tensor in model.graph.initializer:
        values = onnx.numpy_helper.to_array(tensor)
        if values.ndim == 2:
            changed = values.copy()
            changed[0, number] += changed[1, number] / 64
            tensor.CopyFrom(onnx.numpy_helper.from_array(changed, tensor.name))
            break
    return bytes(model.SerializeToString())


def _next(process: subprocess.Popen[str]) -> int:
    """Read what the watch prints of one build; return its time from the save to the first step, in milliseconds."""
    assert process.stdout is not None
    found, shown = -1, []
    for line in process.stdout:
        shown.append(line)
        if match := re.search(r"(\d+) ms from save", line):
            found = int(match.group(1))
        if line.startswith("waiting"):
            break
    if shown[0] != "first build\n" and found < 0:
        raise RuntimeError(f"no step ran:\n{''.join(shown)}")
    return found
