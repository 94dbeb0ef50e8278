"""The law over QONNX and FINN: discovery finds what importing every module finds, no more and no less."""

# ruff: noqa: E501  (the texts are easier to read on one line)

import hashlib
import json
import os
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from brainsmith.plugin.distributions import info_folders, search_folders
from tests.keeping import digest
from tests.plugin.installed import run_python

ADAPTERS = Path(__file__).parents[3] / "brainsmith" / "plugin" / "adapters"
needs_finn = pytest.mark.skipif(find_spec("finn") is None, reason="needs FINN: pip install finn-plus")

IMPORT_EVERYTHING = """
import importlib, json, os, warnings
warnings.simplefilter("ignore")
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
prepare_finn()
import finn, qonnx, inspect
failed, classes, functions = [], {}, {}
from qonnx.transformation.base import Transformation
from qonnx.custom_op.base import CustomOp
modules = []
for package in (qonnx, finn):
    for top in package.__path__:
        for folder, _, files in os.walk(top):
            for file in files:
                path = os.path.relpath(os.path.join(folder, file), top)
                if path.endswith(".py") and path != "__init__.py":
                    name = f"{package.__name__}.{path[:-3].replace(os.sep, '.').removesuffix('.__init__')}"
                    try:
                        modules.append(importlib.import_module(name))
                    except BaseException as error:
                        failed.append(f"{name}: {type(error).__name__}: {error}")
transforms, steps = set(), set()
for module in modules:
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if isinstance(value, type) and issubclass(value, Transformation) and not inspect.isabstract(value):
            transforms.add(f"{module.__name__}:{value.__qualname__}")
tables = {}
for module in modules:
    if hasattr(module, "custom_op") and isinstance(module.custom_op, dict):
        tables[module.__name__] = {key: f"{c.__module__}:{c.__qualname__}" for key, c in module.custom_op.items()}
kernel_of = {}
base = tables["finn.custom_op.fpgadataflow"]
for domain in ("hls", "rtl"):
    package = importlib.import_module(f"finn.custom_op.fpgadataflow.{domain}")
    for key, value in package.custom_op.items():
        owners = [f"{c.__module__}:{c.__qualname__}" for c in value.__mro__[1:]]
        kernel_of[f"{domain}:{key}"] = [name for owner in owners for name, reference in base.items() if reference == owner]
from qonnx.custom_op import registry
ops = {}
for module in modules:
    for name, value in vars(module).items():
        if isinstance(value, type) and value.__module__ == module.__name__ and issubclass(value, CustomOp):
            if not inspect.isabstract(value) and module.__name__.startswith("qonnx.custom_op."):
                ops[name] = f"{module.__name__}:{value.__qualname__}"
from finn.builder.build_dataflow_steps import build_dataflow_step_lookup
lookup = {key: f"{f.__module__}:{f.__qualname__}" for key, f in build_dataflow_step_lookup.items()}
print(json.dumps({"failed": failed, "transforms": sorted(transforms), "tables": tables, "kernel_of": kernel_of, "lookup": lookup, "ops": ops}))
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory, kept_builds):
    """What importing gives: the same for the same sources, so it is kept from run to run."""
    kept = kept_builds["imports"] / f"{what_is_imported()}.json"
    if not kept.exists():
        home = tmp_path_factory.mktemp("imports")
        found = run_python(IMPORT_EVERYTHING, timeout=300, cwd=home, HOME=str(home), PYTHONWARNINGS="ignore")
        written = kept.with_suffix(f".{os.getpid()}")
        written.write_text(json.dumps(found))
        written.rename(kept)
    return json.loads(kept.read_text())


def what_is_imported():
    """Return what stands for the program, the sources of both frameworks, and the distributions they may import."""
    folders = [folder for name in ("qonnx", "finn") for folder in find_spec(name).submodule_search_locations]
    installed = sorted(f"{one.name} {one.version}" for one in info_folders(search_folders()))
    parts = [
        IMPORT_EVERYTHING,
        sys.version,
        *installed,
        *(digest(Path(folder), "*.py") for folder in folders),
    ]
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


@pytest.fixture
def records(manager):
    return manager.discover_plugins(modes=["full"])


def references(records, plugin_type, *frameworks):
    return {info.reference for info in records if info.type == plugin_type and info.framework in frameworks}


@needs_finn
@pytest.mark.slow
def test_every_module_was_imported(imported):
    assert [
        failure for failure in imported["failed"] if "needs torch, which is not installed" not in failure
    ] == []
    assert len(imported["failed"]) <= 1


@needs_finn
@pytest.mark.slow
def test_the_transforms_are_those_that_importing_gives(imported, records):
    assert references(records, "transform", "qonnx", "finn") == set(imported["transforms"])


@needs_finn
@pytest.mark.parametrize(
    ("domain", "plugin_type"),
    [
        ("finn.custom_op.fpgadataflow", "kernel"),
        ("finn.custom_op.fpgadataflow.hls", "backend"),
        ("finn.custom_op.fpgadataflow.rtl", "backend"),
    ],
)
@pytest.mark.slow
def test_the_operators_of_a_domain_are_those_of_its_table(imported, records, domain, plugin_type):
    found = {
        info.name: info.reference
        for info in records
        if info.type == plugin_type and info.get("domain") == domain and info.framework == "finn"
    }
    table = imported["tables"][domain]
    assert {name: found.get(name) for name in table} == table
    extra = {name for name in found if name not in table}
    assert extra == set()


@needs_finn
@pytest.mark.slow
def test_each_backend_belongs_to_the_kernel_from_which_its_class_descends(imported, records):
    found = {
        f"{info.backend_type}:{info.name}": info.kernel
        for info in records
        if info.type == "backend" and info.framework == "finn"
    }
    wrong = {
        key: (found.get(key), owners)
        for key, owners in imported["kernel_of"].items()
        if owners and found.get(key) not in owners[:1]
    }
    assert wrong == {}
    kernels = {info.name for info in records if info.type == "kernel" and info.framework == "finn"}
    without = {key for key, kernel in found.items() if kernel not in kernels}
    assert without == {key for key, owners in imported["kernel_of"].items() if not owners}


@needs_finn
@pytest.mark.slow
def test_the_steps_are_those_of_the_builder_s_table_and_more(imported, records):
    found = {
        info.name: info.reference for info in records if info.type == "step" and info.framework == "finn"
    }
    assert {name: found.get(name) for name in imported["lookup"]} == imported["lookup"]


@needs_finn
@pytest.mark.slow
def test_the_ops_are_those_that_importing_gives(imported, records):
    found = {info.name: info.reference for info in records if info.type == "op" and info.framework == "qonnx"}
    assert found == imported["ops"]


@needs_finn
def test_names_that_both_frameworks_have_are_ambiguous_and_reachable(manager, records):
    both = [
        name
        for name, count in Counter(
            i.name for i in records if i.type == "transform" and i.framework in ("qonnx", "finn")
        ).items()
        if count > 1
    ]
    assert sorted(both) == [
        "MoveAddPastFork",
        "MoveLinearPastFork",
        "MoveMulPastFork",
        "MoveOpPastFork",
        "MoveTransposePastFork",
    ]
    for name in both:
        assert manager.registry.resolve("transform", f"finn:{name}").framework == "finn"


@needs_finn
def test_a_second_definition_of_a_step_keeps_a_longer_name(records):
    steps = {info.name: info.module for info in records if info.type == "step"}
    assert steps["step_convert_to_hw"] == "finn.builder.build_dataflow_steps"
    assert steps["transformer_adhoc.step_convert_to_hw"].endswith("transformer_adhoc")


def test_no_name_of_a_framework_s_plugin_stands_in_the_adapters(records):
    """Pitfall 15: a hand-kept list. Words that every text uses (Crop, Shape) are told by their quotes.

    What mends a plugin of a framework names it, and fails where it is gone.
    """
    mends = ("double_mends", "finn_runtime", "finn_mends", "framework_mends")
    text = "\n".join(path.read_text() for path in ADAPTERS.glob("*.py") if path.stem not in mends)
    names = {info.reference.partition(":")[2] for info in records if info.framework in ("qonnx", "finn")}
    assert [
        name for name in sorted(names) if f'"{name}"' in text or f"'{name}'" in text or f".{name}" in text
    ] == []


def test_every_origin_is_the_line_of_the_definition(records):
    for info in records:
        if info.framework in ("qonnx", "finn"):
            line = Path(info.file).read_text(encoding="utf-8").split("\n")[info.line - 1]
            name = info.reference.partition(":")[2]
            assert line.startswith((f"class {name}", f"def {name}")), info.origin
