"""What it costs to run a transform in another Python environment: the first call, and the next ones."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import ROOT, compile_package, environment, row

FIRST, NEXT = 1.5, 0.030
"""Seconds of the first call, and those that a next one may add."""

ROUNDS = 3

PLUGIN = """\
from qonnx.transformation.base import Transformation
from brainsmith import transform


@transform(stage="tidy")
class Nothing(Transformation):
    def apply(self, model):
        return model, False
"""

CALLING = """\
import json, statistics, time
from qonnx.core.modelwrapper import ModelWrapper
from brainsmith.plugins import transforms as tfm
model = ModelWrapper("examples/digits/mlp.onnx")
tfm.acme.Nothing
taken = []
for _ in range(30):
    begin = time.perf_counter()
    tfm.acme.Nothing().apply(model)
    taken.append(time.perf_counter() - begin)
print(json.dumps([taken[0], statistics.median(taken[1:]), max(taken[1:])]))
"""


def foreign_environments() -> None:
    """Call a transform that does nothing, on the model of the digits, in an environment with this one's packages."""
    compile_package()
    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as folder:
        python = _make(Path(folder) / "acme")
        settings = Path(folder) / "config" / "brainsmith"
        settings.mkdir(parents=True)
        (settings / "config.yaml").write_text(
            f"plugin_system: {{environments: {{acme: {{python: {python}}}}}}}\n"
        )
        env = environment(Path(folder) / "cache", PYTHONPATH=str(ROOT), XDG_CONFIG_HOME=f"{folder}/config")
        found = [
            json.loads(
                subprocess.run(
                    [sys.executable, "-c", CALLING], env=env, cwd=ROOT, stdout=subprocess.PIPE, check=True
                ).stdout
            )
            for _ in range(ROUNDS)
        ]
    first, median, longest = (min(times) for times in zip(*found, strict=True))
    print(f"  the longest of the next calls: {longest * 1e3:.1f} ms")
    row("first call into another environment", f"{first:.2f} s", f"{FIRST:g} s", reached=first <= FIRST)
    row("next calls", f"{median * 1e3:.1f} ms", f"{NEXT * 1e3:g} ms", reached=median <= NEXT)


def _make(root: Path) -> Path:
    """Make a virtual environment that sees this one's packages; return its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root], check=True)
    (packages,) = (root / "lib").glob("python*/site-packages")
    here = next(path for path in sys.path if path.endswith("site-packages"))
    (packages / "here.pth").write_text(f"{here}\n")
    info = packages / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[brainsmith.plugins]\nall = acme\n")
    (packages / "acme.py").write_text(PLUGIN)
    return root / "bin" / "python"
