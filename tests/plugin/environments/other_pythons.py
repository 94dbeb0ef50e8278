"""Other Python environments for tests: folders that look like one, and real ones with packages of other versions."""

import subprocess
import sys
from pathlib import Path

PLUGINS = '''\
import logging
import os
import signal
import warnings

import numpy
from importlib.metadata import version
from qonnx.transformation.base import Transformation

from brainsmith import step, transform


@transform(stage="tidy", description="Say where it runs")
class Tag(Transformation):
    """Note the versions of the packages that are here."""

    def __init__(self, prefix="", weights=None):
        super().__init__()
        self.prefix, self.weights, self.calls = prefix, weights, 0

    def apply(self, model):
        self.calls += 1
        print("pass", self.calls)
        logging.getLogger("acme.tag").warning("numpy is %s", numpy.__version__)
        total = "" if self.weights is None else f" {self.weights.sum():g}"
        here = f"{self.prefix}numpy {numpy.__version__}, qonnx {version('qonnx')}{total};"
        if not model.graph.doc_string.endswith(here):
            model.graph.doc_string += here
        return model, self.calls < 2


@transform(stage="tidy")
class Die(Transformation):
    def apply(self, model):
        os.write(2, b"the last words\\n")
        os.kill(os.getpid(), signal.SIGKILL)


@transform(stage="tidy")
class Fail(Transformation):
    def apply(self, model):
        raise ValueError("a bad axis")


@transform(stage="tidy")
class Wait(Transformation):
    def apply(self, model):
        signal.pause()


@step
def note_clock(model, cfg, suffix: str = "txt"):
    """Write a file, with what the build says."""
    warnings.warn("look here", stacklevel=1)
    with open(os.path.join(cfg.output_dir, f"clock.{suffix}"), "w") as file:
        file.write(f"{cfg.synth_clk_period_ns:g} ns, numpy {numpy.__version__}")
    return model
'''

OPS = '''\
import os
import signal

import numpy as np
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.custom_op.base import CustomOp

from brainsmith import op


@op
class Bias(CustomOp):
    """Multiply, and add a number."""

    def get_nodeattr_types(self):
        modes = {"", "die", "fail", "wait", "object", "shape"}
        return {"by": ("f", True, 0.0), "mode": ("s", False, "", modes), "axes": ("ints", False, [1, 2])}

    def make_shape_compatible_op(self, model):
        return helper.make_node("Identity", [self.onnx_node.input[0]], [self.onnx_node.output[0]])

    def infer_node_datatype(self, model):
        datatype = model.get_tensor_datatype(self.onnx_node.input[0])
        model.set_tensor_datatype(self.onnx_node.output[0], DataType[f"INT{datatype.bitwidth() + 4}"])

    def execute_node(self, context, graph):
        mode, x = self.get_nodeattr("mode"), context[self.onnx_node.input[0]]
        if mode == "die":
            os.write(2, b"the last words\\n")
            os.kill(os.getpid(), signal.SIGKILL)
        if mode == "fail":
            raise ValueError("a bad axis")
        if mode == "wait":
            signal.pause()
        y = x * context[self.onnx_node.input[1]] + np.float32(self.get_nodeattr("by"))
        context[self.onnx_node.output[0]] = {"object": object(), "shape": y[:, 1:]}.get(mode, y)

    def verify_node(self):
        return [f"numpy is {np.__version__}"]


class _Powers(CustomOp):
    def get_nodeattr_types(self):
        return {}

    def make_shape_compatible_op(self, model):
        return self.make_const_shape_op(model.get_tensor_shape(self.onnx_node.input[0]))

    def infer_node_datatype(self, model):
        pass

    def execute_node(self, context, graph):
        context[self.onnx_node.output[0]] = context[self.onnx_node.input[0]] ** self.power

    def verify_node(self):
        pass


@op(name="power", domain="acme.math")
class Power(_Powers):
    power = 2


@op(name="power_of_3", domain="acme.math")
class Power_v2(_Powers):
    power = 3
'''

OLD = ("numpy==1.26.4", "onnx==1.16.2", "protobuf==5.29.6", "qonnx==0.4.0", "toposort==1.10")
NEW = (
    "numpy==2.4.6", "onnx==1.21.0", "protobuf==5.29.6", "qonnx==1.0.0", "toposort==1.10", "ml_dtypes==0.6.0",
    "typing_extensions==4.16.0",
)  # fmt: skip


def virtual_environment(root, version="3.11.7", plugins=None):
    """Make a folder that is a virtual environment as far as its files say, with an interpreter that is this one."""
    root = Path(root)
    short = ".".join(version.split(".")[:2])
    packages = root / "lib" / f"python{short}" / "site-packages"
    packages.mkdir(parents=True)
    (root / "bin").mkdir()
    (root / "bin" / "python").symlink_to(sys.executable)
    (root / "pyvenv.cfg").write_text(
        f"home = {sys.base_prefix}/bin\ninclude-system-site-packages = false\nversion = {version}\n"
    )
    if plugins is not None:
        install_plugins(packages, plugins)
    return root


def install_plugins(packages, text=PLUGINS, name="acme_plugins"):
    """Install a distribution with one module of plugins, as an installer would."""
    info = packages / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[brainsmith.plugins]\nall = {name}\n")
    (info / "RECORD").write_text(f"{name}/__init__.py,,\n")
    (packages / name).mkdir()
    (packages / name / "__init__.py").write_text(text)


def sharing_environment(root: Path, plugins: str) -> Path:
    """Make a virtual environment that sees this one's packages, with plugins of its own; return its packages' folder."""
    virtual_environment(root, ".".join(map(str, sys.version_info[:3])), plugins)
    (packages,) = (root / "lib").glob("python*/site-packages")
    here = next(path for path in sys.path if path.endswith("site-packages"))
    (packages / "here.pth").write_text(f"{here}\n")
    return packages


def real_environment(root, requirements):
    """Make a virtual environment with packages of exactly these versions, and the plugins."""
    subprocess.run([sys.executable, "-m", "venv", root], check=True)
    python = root / "bin" / "python"
    install = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        *requirements,
    ]
    subprocess.run(install, check=True)
    (packages,) = (root / "lib").glob("python*/site-packages")
    install_plugins(packages)
    install_plugins(packages, OPS, "acme_ops")
    return root


def name_environments(project, **places):
    """Have a project's settings name environments: each a folder, or the text of what is stated."""
    stated = [
        f"    {name}: {place if isinstance(place, str) else f'{{python: {place}}}'}"
        for name, place in places.items()
    ]
    text = "plugin_system:\n  environments:\n" + "\n".join(stated) + "\n"
    (project / ".brainsmith" / "config.yaml").write_text(text)
