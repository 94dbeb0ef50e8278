"""Checking sources: the rules one by one; `tests/cli/test_plugins_check.py` has the whole of it."""

import pytest

from brainsmith.plugin.source_check import check_sources, load_problems, snake_case
from tests.plugin.installed import run_python, step_file, transform_file


@pytest.fixture
def check(site, manager):
    """Write one file outside every project and check it."""

    def run(text, name="my_pass.py"):
        path = site.write(name, text)
        manager.discover_plugins(modes=["full"])
        checked = check_sources(str(path), manager.registry)
        return [f"{problem.line}: {problem.text}" for problem in checked.problems]

    return run


HEAD = "from brainsmith.plugin.core import backend, kernel, step, transform\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '@transform(stage="a")\ndef f(model): pass\n',
            "2: @transform needs a subclass of qonnx's Transformation, not the function f",
        ),
        ("@kernel\nclass K: pass\n", "2: @kernel needs a subclass of FINN's HWCustomOp, not the class K()"),
        ("@step\nclass S: pass\n", "2: @step needs a function (model, cfg) -> model, not the class S"),
        ("@step\nasync def s(model, cfg): pass\n", "2: @step needs a function (model, cfg) -> model, not the coroutine s"),
        (
            "@step\ndef s(model, cfg, more): pass\n",
            "2: @step needs a function (model, cfg) -> model; s takes 3 arguments",
        ),
        (
            'from abc import ABC\n@transform(stage="a")\nclass T(ABC): pass\n',
            "3: @transform needs a subclass of qonnx's Transformation, not the class T(ABC)",
        ),
        (
            'from qonnx.transformation.base import Transformation as T0\nclass A(T0): pass\n'
            '@transform(kernel="MVAUU")\nclass T(A): pass\n',
            "4: kernel= of @transform on 'T': no kernel named 'MVAUU'. Did you mean 'MVAU'?",
        ),
        (
            '@step(requires_plugins=["cleanupp"])\ndef s(model, cfg): pass\n',
            "2: step 'project:s' cannot be used here: it requires step:cleanupp: no step named 'cleanupp'. "
            "Did you mean 'cleanup'?",
        ),
        (
            '@step(requires_plugins=["cleanup >=99"])\ndef s(model, cfg): pass\n',
            "2: step 'project:s' cannot be used here: it requires step:cleanup >=99, and brainsmith:cleanup has 0.1.0",
        ),
        (
            '@step(requires_plugins=["s"])\ndef s(model, cfg): pass\n',
            "2: step 'project:s' cannot be used here: plugins require each other: step project:s > step project:s",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong(check, text, expected):
    assert check(HEAD + text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "@step\ndef s(model, cfg, more=1): pass\n",
        "@step\ndef s(*args): pass\n",
        'from elsewhere import Base\n@transform(stage="a")\nclass T(Base): pass\n',
        '@transform(stage="a")\nclass T(make_base()): pass\n',
        "from finn.custom_op.fpgadataflow.hwcustomop import HWCustomOp\nclass B(HWCustomOp): pass\n"
        "@kernel\nclass K(B): pass\n",
        'from finn.custom_op.fpgadataflow.hlsbackend import HLSBackend\n'
        '@backend(kernel="finn:MVAU", backend_type="hls")\nclass MVAUHLS(HLSBackend): pass\n',
        'import qonnx.transformation.base as base\n@transform(stage="a")\nclass T(base.Transformation): pass\n',
        '@step(requires_plugins=["t", "transform:ExpandNorms", "kernel:MVAU >=1"])\ndef s(model, cfg): pass\n'
        '@step\ndef t(model, cfg): pass\n',
        'GROUPS = {"g": ["qonnx:FoldConstants", "ExpandNorms"]}\n',
    ],
)  # fmt: skip
def test_what_is_right_or_cannot_be_told(check, text):
    assert check(HEAD + text) == []


def test_the_scan_agrees_with_the_import(site, manager):
    """Where the check says that a kind is wrong, loading says the same; where it does not, loading works."""
    texts = {
        "right": transform_file("Right"),
        "no_base": HEAD + '@transform(stage="a")\nclass NoBase: pass\n',
        "a_class": HEAD + "@step\nclass a_class: pass\n",
        "steps": step_file("steps"),
        "three": HEAD + "@step\ndef three(model, cfg, more): pass\n",
    }
    for name, text in texts.items():
        site.write(f"kinds/{name}.py", text)
    manager.discover_plugins(modes=["full"])
    checked = check_sources(str(site / "kinds"), manager.registry)
    wrong = {problem.file: problem.text for problem in checked.problems}
    failed = run_python(
        "import json\nfrom brainsmith.errors import PluginLoadError\n"
        "from brainsmith.plugin.plugin_loading import import_file\nfailed = {}\n"
        f"for name in {list(texts)!r}:\n    path = {str(site / 'kinds')!r} + f'/{{name}}.py'\n"
        "    try:\n        import_file(path)\n"
        "    except PluginLoadError as error:\n        failed[path] = str(error)\n"
        "print(json.dumps(failed))",
    )
    assert (
        set(wrong)
        == set(failed)
        == {str(site / f"kinds/{name}.py") for name in ("no_base", "a_class", "three")}
    )
    for file, text in wrong.items():
        assert text.split(", not the class")[0] in failed[file]


@pytest.mark.slow
def test_a_file_of_the_project_is_the_record_that_discovery_has(project, manager):
    project.write("plugins/deep/one.py", step_file("one", result=7))
    manager.discover_plugins(modes=["full"])
    (info,) = check_sources("plugins/deep", manager.registry).records
    assert info == manager.registry.resolve("step", "one")
    assert list(load_problems([info])) == []


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("ExpandNorms", "expand_norms"), ("LayerNormHLS", "layer_norm_hls"), ("InferMVAU", "infer_mvau"),
        ("ConvertQCDQToQCQ", "convert_qcdq_to_qcq"), ("cleanup", "cleanup"), ("Conv2D", "conv2_d"),
    ],
)  # fmt: skip
def test_file_names(name, file):
    assert snake_case(name) == file
