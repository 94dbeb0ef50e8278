"""No layer below the plugins names a kernel, backend or op of ours: each brings in its own file what others need."""

import ast
import tomllib
from pathlib import Path

import onnx

from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.node_claims import op_type_of

ROOT = Path(__file__).parents[1]
PLUGINS = "brainsmith.kernels"
WRITES_PLUGINS = {"brainsmith/rtl/importing/core_writing.py"}
"""`brainsmith kernel import` writes kernels and backends, and states the domains of their nodes."""


def below():
    """Return the files of the layers below those that hold plugins."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    at = next(at for at, layer in enumerate(layers) if PLUGINS in layer)
    names = [name.strip() for layer in layers[at + 1 :] for name in layer.replace("|", ":").split(":")]
    places = [ROOT / name.replace(".", "/") for name in names]
    return [
        file
        for place in places
        for file in ([place.with_suffix(".py")] if not place.is_dir() else sorted(place.rglob("*.py")))
    ]


def names():
    """Return the names of our kernels, backends and ops, of nodes and of domains; not those that others have too."""
    records = get_plugin_manager().all_records()[0]
    every = [info for kind in ("kernel", "backend", "op") for info in records.records(kind)]
    ours = [info for info in every if info.framework == "brainsmith"]
    nodes = [info for info in ours if info.type != "op"]
    found = {info.name for info in ours} | {
        name for info in nodes for name in (op_type_of(info), info.extra["domain"])
    }
    others = {info.name for info in every if info.framework != "brainsmith"}
    standard = {schema.name for schema in onnx.defs.get_all_schemas()}
    return found - others - standard - {"finn.custom_op.fpgadataflow.rtl"}


def texts(tree):
    """Yield line and value of each text that is no docstring."""
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.lineno, node.value


def test_no_layer_below_the_plugins_names_one_of_ours():
    ours = names()
    assert {
        "int_quant",
        "MatMulKernel",
        "CropRTL",
        "SoftmaxHLS",
        "BinaryMVAU_rtl",
        "Pool_rtl",
        PLUGINS,
    } <= ours
    found = []
    for file in below():
        text, place = file.read_text("utf-8"), str(file.relative_to(ROOT))
        if place not in WRITES_PLUGINS and any(name in text for name in ours):
            found += [
                f"{place}:{line}: {name}"
                for line, value in texts(ast.parse(text))
                for name in ours
                if name in value
            ]
    assert found == []
