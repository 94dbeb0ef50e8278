"""The reference in docs/blueprint.md: each block runs, each key is there; and the repository's blueprints."""

import re
from pathlib import Path

import numpy as np
import pytest

from brainsmith.blueprint import check_blueprint, load_blueprint
from brainsmith.blueprint.outputs import OUTPUTS, RTL_STEPS
from brainsmith.blueprint.schema import DEFAULT_STEPS, KEYS, PHASES
from brainsmith.blueprint.space.space import load_space
from brainsmith.exploration.space_plan import check_names
from brainsmith.plugin import get_plugin_manager

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "blueprint.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)
YAML = [block for language, block in BLOCKS if language == "yaml"]
BLUEPRINTS = sorted((ROOT / "blueprints").glob("*.y*ml"))


@pytest.fixture
def discovered():
    return get_plugin_manager().registry


@pytest.mark.parametrize("block", YAML, ids=range(len(YAML)))
def test_every_yaml_block_loads_and_resolves(tmp_path, discovered, block):
    for name in ("samples", "labels", "outputs", "float_outputs"):
        np.save(tmp_path / f"{name}.npy", np.zeros(1))
    for other in YAML:  # those that others extend begin with their name
        if other.startswith("# "):
            (tmp_path / other.splitlines()[0][2:]).write_text(other)
    path = tmp_path / "block.yaml"
    path.write_text(block)
    if "explore:" in block:
        assert len(load_space(path).points()) > 1
        check_names(load_space(path), discovered)
        return
    blueprint, selection = check_blueprint(path, discovered)
    assert len(selection.steps) >= 1
    optional = sum(entry.name.optional for entry in (*blueprint.kernels, *blueprint.transforms))
    assert len(selection.skipped) >= optional


def test_every_python_block_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    blocks = [block for language, block in BLOCKS if language == "python"]
    assert blocks
    for block in blocks:
        exec(compile(block, "docs/blueprint.md", "exec"), {})


@pytest.mark.parametrize("word", sorted({word for keys in KEYS.values() for word in keys}))
def test_every_key_is_documented(word):
    assert re.search(rf"^#+ {word}$|`{word}`", TEXT, re.MULTILINE), word


def test_every_word_is_documented():
    for word in (*PHASES, *OUTPUTS, *RTL_STEPS):
        assert f"`{word}`" in TEXT
    assert ", ".join(DEFAULT_STEPS) in TEXT


@pytest.mark.parametrize("path", BLUEPRINTS, ids=lambda path: path.name)
def test_every_blueprint_of_the_repository_can_be_built(discovered, path):
    _, selection = check_blueprint(path, discovered)
    assert selection.steps
    assert all(record.reference for record in selection.records)


S4 = """\
hw_compiler:
  kernels:
    - "matmul"
    - {"kernel": "softmax", "backends": ["hls"]}
  transforms:
    - "quantization"
    - "~folding"            # optional
  transforms_phased:
    pre_hw: ["cleanup_transforms"]
    post_hw: ["optimization_transforms"]
"""


def test_the_first_blueprint_ever_written_loads_as_it_stands(discovered):
    path = ROOT / "blueprints" / "transformer.yaml"
    assert path.read_text() == S4
    blueprint = load_blueprint(path)
    assert [entry.name.name for entry in blueprint.kernels] == ["matmul", "softmax"]
    _, selection = check_blueprint(path, discovered)
    assert [use.record.qualified for use in selection.kernels] == ["brainsmith:MatMul", "brainsmith:Softmax"]
    assert [backend.backend_type for backend in selection.kernels[1].backends] == ["hls"]
    for phase in PHASES:
        assert selection.phase(phase), phase
