"""Builds that verbs make to run them at once, and those that are given to them."""

import shutil
from pathlib import Path

import pytest

from brainsmith.build.model import read_for_build
from brainsmith.cli.built_model import check_built_of
from brainsmith.cli.own_build import built
from brainsmith.cli.terminal import Terminal
from brainsmith.errors import BuildError, UsageError
from brainsmith.plugin.core import step
from tests.build import graphs

BLUEPRINT = "hw_compiler:\n  target: {part: xczu7ev-ffvc1156-2-e}\n  steps: [fail, rtl_package]\n"


def fail(model, cfg):
    raise ValueError("no")


def interrupt(model, cfg):
    raise KeyboardInterrupt


@pytest.fixture
def model(elsewhere):
    graphs.quant_mlp().save("m.onnx")
    return "m.onnx"


def test_what_a_failed_build_leaves_is_kept(model, elsewhere, monkeypatch, capsys):
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    Path("b.yaml").write_text(BLUEPRINT)
    step(name="fail")(fail)
    failed = pytest.raises(BuildError, match=r"^step 'fail' failed: ValueError: no")
    with failed, built(model, "b.yaml", Terminal()):
        pass
    (folder,) = elsewhere.glob("brainsmith-*")
    assert (
        capsys.readouterr().err.splitlines()[-1]
        == f"what the failed build left is kept: {folder}/build/failed"
    )
    assert (folder / "build" / "failed").is_dir()


def test_an_interrupted_build_leaves_nothing(model, elsewhere, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    Path("b.yaml").write_text(BLUEPRINT)
    step(name="fail")(interrupt)
    with pytest.raises(KeyboardInterrupt) as caught, built(model, "b.yaml", Terminal()):
        pass
    assert str(caught.value) == "interrupted while m.onnx was built; the steps done are in the build cache"
    assert not list(elsewhere.glob("brainsmith-*"))


def test_the_build_of_another_model_is_refused(model):
    Path("out").mkdir()
    shutil.copy(model, "out/model.onnx")
    report = f'{{"model": {{"digest": "{read_for_build(model).digest}", "file": "m.onnx"}}}}'
    Path("out/report.json").write_text(report)
    check_built_of(model, "out")
    graphs.quant_mlp(seed=1).save("other.onnx")
    with pytest.raises(UsageError) as caught:
        check_built_of("other.onnx", "out")
    assert str(caught.value) == (
        "out is the build of m.onnx, and other.onnx is another model, or was changed since: give --build the folder of "
        "its own build, or build it again"
    )
    Path("out/report.json").write_text(report.replace(read_for_build(model).digest, "0"))
    check_built_of("out/model.onnx", "out")
