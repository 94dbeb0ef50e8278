"""What it costs to run a transform and an op in another Python environment: the first call, and the next ones."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import ROOT, compile_package, environment, row

FIRST, NEXT = 1.5, 0.030
"""Seconds of the first call, and those that a next one may add."""

OPS = 0.010
"""Seconds that a call of an op on one sample may take."""

ROUNDS = 3

PLUGIN = """\
from qonnx.custom_op.base import CustomOp
from qonnx.transformation.base import Transformation
from brainsmith import op, transform


@transform(stage="tidy")
class Nothing(Transformation):
    def apply(self, model):
        return model, False


@op
class Twice(CustomOp):
    def get_nodeattr_types(self):
        return {}

    def make_shape_compatible_op(self, model):
        return self.make_const_shape_op(model.get_tensor_shape(self.onnx_node.input[0]))

    def infer_node_datatype(self, model):
        pass

    def execute_node(self, context, graph):
        context[self.onnx_node.output[0]] = context[self.onnx_node.input[0]] * 2

    def verify_node(self):
        pass
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
import numpy as np
from onnx import TensorProto, helper
from brainsmith.execution.execute import Executor
ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 1024)) for name in "xy"]
node = helper.make_node("Twice", ["x"], ["y"], name="twice", domain="acme_plugins")
graph = helper.make_graph([node], "g", ends[:1], ends[1:])
opsets = [helper.make_opsetid("", 17), helper.make_opsetid("acme_plugins", 1)]
executor = Executor(ModelWrapper(helper.make_model(graph, opset_imports=opsets)))
ops = []
for runs in (1, 256):
    times = []
    for _ in range(30):
        x = np.ones((runs, 1, 1024), np.float32)
        begin = time.perf_counter()
        executor.run({"x": x})
        times.append(time.perf_counter() - begin)
    ops.append(statistics.median(times[1:]))
print(json.dumps([taken[0], statistics.median(taken[1:]), max(taken[1:]), *ops]))
"""


def foreign_environments() -> None:
    """Call a transform that does nothing, on the digits' model, and an op; the environment has this one's packages."""
    sys.path.insert(0, str(ROOT))
    environments = importlib.import_module("tests.plugin.environments.other_pythons")
    compile_package()
    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as folder:
        root = Path(folder) / "acme"
        environments.sharing_environment(root, PLUGIN)
        settings = Path(folder) / "config" / "brainsmith"
        settings.mkdir(parents=True)
        (settings / "config.yaml").write_text(
            f"plugin_system: {{environments: {{acme: {{python: {root}}}}}}}\n"
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
    first, median, longest, one, many = (min(times) for times in zip(*found, strict=True))
    print(f"  the longest of the next calls: {longest * 1e3:.1f} ms")
    row("first call into another environment", f"{first:.2f} s", f"{FIRST:g} s", reached=first <= FIRST)
    row("next calls", f"{median * 1e3:.1f} ms", f"{NEXT * 1e3:g} ms", reached=median <= NEXT)
    print(f"  an op on 256 samples of 1024 values, in one call: {many * 1e3:.1f} ms")
    row("an op on one sample of 1024 values", f"{one * 1e3:.1f} ms", f"{OPS * 1e3:g} ms", reached=one <= OPS)
