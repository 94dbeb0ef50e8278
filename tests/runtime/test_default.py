"""The default manager: `init`, `execute`, the settings, and its end."""

import os

import numpy as np
import pytest

from brainsmith import targets
from brainsmith.errors import DeviceError, SettingsError, TargetError, TargetUnavailableError
from brainsmith.plugin.manager import reset_plugin_system
from tests.plugin.installed import run_python
from tests.runtime.toys import toy

X = np.float32([[1, 2]])


def test_after_init_a_model_is_executed_on_that_target():
    double, triple = toy("Double"), toy("Triple", factor=3.0)
    targets.init("double")
    assert targets.execute("m", X)["y"].tolist() == [[2, 4]]
    targets.init("triple")
    assert targets.execute("m", X)["y"].tolist() == [[3, 6]]
    assert targets.execute("m", X, config={"factor": 10})["y"].tolist() == [[10, 20]]
    targets.init("double")
    targets.execute("m", X)
    assert double.instances[0].calls == ["initialize", "prepare"]
    assert triple.instances[0].calls == ["initialize", "prepare", "prepare"]


def test_init_keeps_the_manager_and_what_was_chosen_if_it_fails():
    cls = toy("Double")
    toy("Broken", fails_in=("initialize",))
    manager = targets.init("double", targets={"double": {"offset": 1.0}})
    for device, error in (("gpu", ValueError), ("broken", TargetError), ("double:x", DeviceError)):
        with pytest.raises(error):
            targets.init(device)
        assert targets.get_resource_manager() is manager
        assert manager.config.device == "double"
        assert targets.execute("m", X)["y"].tolist() == [[3, 5]]
    assert len(cls.instances) == 1


def test_an_unknown_device_is_a_value_error_that_lists_the_devices(only_toys):
    toy("Double")
    with pytest.raises(ValueError, match="there is no device 'gpu'") as error:
        targets.init("gpu")
    assert str(error.value) == (
        "there is no device 'gpu'\n"
        "  devices are auto, double, toy (any of double); each may be followed by an id, as in 'cpu:0'"
    )


def test_an_unavailable_target_asked_for_by_name_says_why_and_what_would_change_that():
    toy("Away", available=False)
    with pytest.raises(TargetUnavailableError) as error:
        targets.init("away")
    assert str(error.value) == "target 'away' cannot be used here: its cable is not plugged in: plug it in"


def test_the_variable_names_the_device(monkeypatch):
    cls = toy("Double")
    monkeypatch.setenv("BRAINSMITH_DEVICE", "double:2")
    assert targets.get_resource_manager().active is cls.instances[-1]
    assert cls.instances[-1].device_id == 2
    monkeypatch.setenv("BRAINSMITH_DEVICE", "nowhere")
    with pytest.raises(DeviceError, match="there is no device 'nowhere'"):
        targets.init()
    targets.init("double")


@pytest.mark.slow
def test_the_project_s_file_names_the_device(tmp_path, monkeypatch):
    (tmp_path / ".brainsmith").mkdir()
    (tmp_path / ".brainsmith" / "config.yaml").write_text("plugin_system:\n  device: double\n")
    monkeypatch.chdir(tmp_path)
    cls = toy("Double")
    assert targets.init().active is cls.instances[0]


@pytest.mark.parametrize("before", [True, False])
def test_an_init_that_fails_leaves_verbose_as_it_was(before, capsys):
    toy("Double")
    toy("Broken", fails_in=("initialize",))
    targets.init("double", verbose=before)
    for device in ("nowhere", "broken"):
        with pytest.raises((DeviceError, TargetError)):
            targets.init(device, verbose=not before)
    capsys.readouterr()
    targets.execute("m", X)
    assert bool(capsys.readouterr().err) == before


@pytest.mark.parametrize("switch", ["variable", "argument"])
def test_verbose_writes_what_happens_to_stderr(switch, monkeypatch, capsys):
    toy("Double")
    if switch == "variable":
        monkeypatch.setenv("BRAINSMITH_VERBOSE", "1")
    targets.init("double", **({"verbose": True} if switch == "argument" else {}))
    targets.execute("m", X)
    targets.get_resource_manager().close()
    told = capsys.readouterr().err
    lines = [line.partition(" in ")[0] for line in told.splitlines()]
    assert lines[:4] == [
        "brainsmith.targets: target 'double' (device 0) initialised",
        "brainsmith.targets: target 'double' (device 0) is active",
        "brainsmith.targets: target 'double' (device 0) prepared m",
        "brainsmith.targets: target 'double' (device 0) cleaned up",
    ]


def test_a_wrong_setting_names_the_variable(monkeypatch):
    monkeypatch.setenv("BRAINSMITH_VERBOSE", "loud")
    with pytest.raises(SettingsError) as error:
        targets.init("auto")
    assert str(error.value) == "BRAINSMITH_VERBOSE: verbose must be true or false, not 'loud'"


def test_a_reset_closes_the_default_manager_and_forgets_the_instances():
    cls = toy("Double")
    targets.init("double")
    before = targets.get_registry()
    reset_plugin_system()
    assert cls.instances[0].calls == ["initialize", "cleanup"]
    assert targets.get_registry() is not before
    toy("Double")
    assert targets.get_registry().get_plugin("double") is not cls.instances[0]


def test_a_reset_whose_cleanup_fails_tells_it_and_forgets_all_the_same():
    toy("Double", fails_in=("cleanup",))
    targets.init("double")
    with pytest.raises(TargetError, match="target 'double' failed in cleanup"):
        reset_plugin_system()
    with pytest.raises(DeviceError):
        targets.init("double")


@pytest.mark.slow
def test_the_end_of_the_process_cleans_up_once(tmp_path):
    code = """
    import json
    from brainsmith import targets

    class Mine(targets.Target):
        @classmethod
        def metadata(cls):
            return targets.PluginInfo(name="mine")
        def cleanup(self):
            print(json.dumps(["cleaned up"]))
        def prepare_resource(self, resource, config=None):
            return resource
        def execute(self, prepared, inputs, **kwargs):
            return inputs

    targets.get_registry().register(Mine)
    targets.init("mine")
    """
    assert run_python(code, cwd=tmp_path) == ["cleaned up"]


@pytest.mark.slow
def test_importing_and_listing_names_imports_nothing_heavy(tmp_path):
    code = """
    import json, sys
    from brainsmith import targets
    targets.Target, targets.ResourceManager, targets.init, dir(targets)
    print(json.dumps([name for name in ("onnx", "qonnx", "onnxruntime", "finn", "yaml") if name in sys.modules]))
    """
    assert run_python(code, cwd=tmp_path) == []


def test_every_public_name_exists_and_others_do_not():
    for name in targets.__all__:
        assert getattr(targets, name) is not None
    assert dir(targets) == targets.__all__
    with pytest.raises(AttributeError, match=r"module 'brainsmith.targets' has no attribute 'Targett'"):
        targets.Targett
    assert os.path.dirname(targets.__file__).endswith("targets")
