"""FINN's own builder after `import brainsmith.plugins`: it imports, and keeps a checkpoint of each step."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from brainsmith.plugin.adapters.finn_mends import mend_builder
from tests.plugin.installed import run_python


@pytest.fixture
def builder():
    """A builder that does with a list of steps what FINN's does."""
    module = SimpleNamespace()

    def build_dataflow_cfg(model_filename, cfg):
        module.names = [step if isinstance(step, str) else step.__name__ for step in cfg.steps or ()]
        module.results = [step(model_filename, cfg) for step in cfg.steps or () if callable(step)]
        if model_filename == "bad":
            raise ValueError("no model")
        return len(module.names)

    module.build_dataflow_cfg = build_dataflow_cfg
    mend_builder(module)
    return module


def tidy(model, cfg):
    return "tidy"


def test_functions_of_one_name_are_numbered_and_run_as_they_are(builder):
    def other(model, cfg):
        return (model, cfg.kind)

    other.__name__ = "tidy"
    steps = [tidy, lambda m, c: 1, "step_a", lambda m, c: 2, other, "step_a", lambda m, c: 3]
    cfg = SimpleNamespace(steps=steps, kind="mine")
    assert builder.build_dataflow_cfg("m.onnx", cfg) == 7
    assert builder.names == ["tidy", "<lambda>", "step_a", "<lambda>_2", "tidy_2", "step_a", "<lambda>_3"]
    assert builder.results == ["tidy", 1, 2, ("m.onnx", "mine"), 3]
    assert cfg.steps is steps


def test_a_number_is_no_name_that_is_taken(builder):
    def tidy_2(model, cfg):
        return 2

    builder.build_dataflow_cfg("m.onnx", SimpleNamespace(steps=[tidy, tidy, tidy_2]))
    assert builder.names == ["tidy", "tidy_3", "tidy_2"]


@pytest.mark.parametrize("steps", [None, [tidy]])
def test_the_configuration_is_as_it_was_also_after_a_failure(builder, steps):
    cfg = SimpleNamespace(steps=steps)
    with pytest.raises(ValueError, match="no model"):
        builder.build_dataflow_cfg("bad", cfg)
    assert cfg.steps is steps


@pytest.mark.parametrize(("vivado", "noted"), [("", "not installed"), ("/opt/Vivado/2024.2", "2024.2")])
def test_a_build_ends_without_vivado_and_notes_its_version_where_there_is_one(monkeypatch, vivado, noted):
    monkeypatch.setenv("XILINX_VIVADO", vivado)
    module = SimpleNamespace(build_dataflow_cfg=tidy, get_vivado_root=lambda: 1 / 0)
    mend_builder(module)
    assert Path(module.get_vivado_root()).name == noted


@pytest.mark.slow
def test_importing_the_door_prepares_finn_when_a_part_of_it_is_imported(tmp_path, monkeypatch):
    monkeypatch.delenv("FINN_BUILD_DIR", raising=False)  # FINN sets it in the process that imports it
    code = """
    import json, sys
    import brainsmith.plugins
    early = [name for name in sys.modules if name.startswith(("finn", "brainsmith.plugin.adapters"))]
    from finn.util.settings import get_settings
    from finn.xsi import load_sim_obj
    finders = [getattr(finder, "__qualname__", type(finder).__name__) for finder in sys.meta_path]
    print(json.dumps([early, str(get_settings().finn_build_dir), finders.count("CompletingFinder")]))
    """
    early, folder, finders = run_python(code, cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert early == []
    assert folder == str(tmp_path / "cache" / "brainsmith" / "finn" / "FINN_TMP")
    assert finders == 2  # one prepares FINN, the other mends it and QONNX


@pytest.mark.slow
def test_a_plugin_that_imports_finn_need_not_say_so(tmp_path):
    """As FINN's users write theirs: nothing but the decorator is added, and the command line loads it."""
    (tmp_path / ".brainsmith").mkdir()
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "note_settings.py").write_text(
        "from finn.util.settings import get_settings\nfrom brainsmith import step\n\n\n"
        "@step()\ndef note_settings(model, cfg):\n    return model\n"
    )
    code = """
    import json
    from brainsmith.plugin.core import get_registry
    print(json.dumps(bool(get_registry().get("step", "note_settings").__globals__["get_settings"]())))
    """
    assert run_python(code, cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache")) is True


def test_without_finn_its_import_fails_as_ever(tmp_path):
    code = """
    import sys
    import brainsmith.plugins
    sys.modules["finn"] = None
    import finn.builder
    """
    done = run_python(code, cwd=tmp_path, check=False)
    assert done.stderr.splitlines()[-1].startswith("ModuleNotFoundError: ")
    assert "finn" in done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_finns_builder_is_imported_without_another_call(tmp_path):
    code = """
    import json
    import brainsmith.plugins
    from finn.builder.build_dataflow import build_dataflow_cfg
    print(json.dumps(build_dataflow_cfg.__wrapped__.__module__))
    """
    assert run_python(code, cwd=tmp_path) == "finn.builder.build_dataflow"
