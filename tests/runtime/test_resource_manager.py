"""The manager: which target is active, what it prepares, and what it says where it cannot."""

import numpy as np
import pytest

from brainsmith.errors import (
    DeviceError,
    InputError,
    NoActiveTargetError,
    SettingsError,
    TargetError,
    TargetUnavailableError,
    UnsupportedResourceError,
)
from brainsmith.targets import ResourceManager, Target, get_registry
from tests.runtime.toys import toy

X = np.float32([[1, 2]])
NO_TARGET = "no target is active: call initialize() or switch_plugin(name) first, or use the manager in a with statement"


def test_the_plugin_system_may_be_named_and_cannot_be_left_out():
    with ResourceManager({"device": "numpy"}, use_plugin_system=True) as manager:
        assert type(manager.active).__name__ == "NumpyExecution"
    with pytest.raises(SettingsError) as caught:
        ResourceManager({"device": "numpy"}, use_plugin_system=False)
    assert str(caught.value) == (
        "use_plugin_system must be True, not False: every target is a plugin; leave the argument out"
    )


def test_a_shell_shows_what_is_active_and_what_is_held(manager):
    assert repr(manager) == "<resource manager: device auto, no target is active, held: none>"
    for name in ("A", "B"):
        toy(name)
        manager.switch_plugin(name.lower(), device_id=1)
    assert repr(manager) == "<resource manager: device auto, b:1 is active, held: a:1, b:1>"


def test_pitfall_29_another_configuration_is_another_prepared_resource(manager):
    cls = toy("A")
    manager.switch_plugin("a")
    two, five = manager.prepare_resource("m"), manager.prepare_resource("m", config={"factor": 5})
    assert manager.execute(two, X)["y"].tolist() == [[2, 4]]
    assert manager.execute(five, X)["y"].tolist() == [[5, 10]]
    assert manager.prepare_resource("m", config={"factor": 5}) is five
    assert manager.prepare_resource("m", config={"factor": 5.0}) is not five
    assert cls.instances[0].calls.count("prepare") == 3


def test_a_target_is_given_what_is_checked_already(manager):
    given = []

    def execute(self, prepared, inputs, **kwargs):
        given.append(prepared.signature.checked(inputs)[0] is inputs)
        return {"y": inputs["x"]}

    toy("A", execute=execute)
    manager.switch_plugin("a")
    assert manager.execute(manager.prepare_resource("m"), X)["y"].tolist() == [[1, 2]]
    assert given == [True]


def test_pitfall_29_device_1_is_another_instance_than_device_0(manager):
    cls = toy("A")
    zero = manager.switch_plugin("a", device_id=0)
    one = manager.switch_plugin("a", device_id=1)
    assert (zero.device_id, one.device_id) == (0, 1)
    assert zero is not one
    assert manager.switch_plugin("a") is zero
    assert len(cls.instances) == 2
    assert manager.prepare_resource("m", device="a:1").target is one


def test_pitfall_30_a_failed_switch_leaves_the_old_target_active(manager):
    good = toy("Good")
    toy("Broken", fails_in=("initialize",))
    toy("Absent", available=False)
    manager.switch_plugin("good")
    prepared = manager.prepare_resource("m")
    for name, error in (("broken", TargetError), ("absent", TargetUnavailableError), ("nobody", DeviceError)):
        with pytest.raises(error):
            manager.switch_plugin(name)
        assert manager.active is good.instances[0]
        assert manager.execute(prepared, X)["y"].tolist() == [[2, 4]]
    with pytest.raises(DeviceError):
        manager.use_device("good:x")
    assert manager.active is good.instances[0]


def test_no_active_target_is_told():
    manager = ResourceManager()
    toy("A")
    for use in (lambda: manager.prepare_resource("m"), lambda: manager.execute(None, X)):
        with pytest.raises(NoActiveTargetError) as error:
            use()
        assert str(error.value) == NO_TARGET
    manager.initialize(auto_discover=False)
    assert manager.active is None


def test_a_manager_whose_initialize_failed_tells_it_again_in_a_with_statement():
    cls = toy("A", fails_in=("initialize",))
    manager = ResourceManager({"device": "a"})
    with pytest.raises(TargetError):
        manager.initialize()
    with pytest.raises(TargetError, match="target 'a' failed in initialize"), manager:
        pass
    cls.fails_in = ()
    with manager:
        assert manager.active is cls.instances[-1]


def test_after_close_no_target_is_active_until_it_is_initialised_again():
    cls = toy("A", priority=1000)
    manager = ResourceManager({"device": "a"}).initialize()
    prepared = manager.prepare_resource("m")
    manager.close()
    with pytest.raises(NoActiveTargetError):
        manager.execute(prepared, X)
    with manager:
        assert manager.active is cls.instances[1]


def test_the_active_target_that_is_released_leaves_none(manager):
    toy("A")
    manager.switch_plugin("a")
    manager.release("a")
    assert manager.active is None
    with pytest.raises(NoActiveTargetError) as error:
        manager.release("a")
    assert str(error.value) == "target 'a' is not held by this manager; it holds none"


def test_one_device_of_several_is_released(manager):
    toy("A")
    manager.switch_plugin("a", device_id=1)
    manager.switch_plugin("a", device_id=2)
    manager.release("a", device_id=1)
    with pytest.raises(NoActiveTargetError) as error:
        manager.release("a", device_id=1)
    assert (
        str(error.value)
        == "target 'a' (device 1) is not held by this manager; it holds target 'a' (device 2)"
    )


def test_a_resource_that_the_chosen_target_refuses_is_told(manager):
    toy("A", refuses=("m",))
    manager.switch_plugin("a")
    with pytest.raises(UnsupportedResourceError) as error:
        manager.prepare_resource("m")
    assert str(error.value) == "target 'a' cannot execute m: it is too large"


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"z": X}, "the model has no input 'z'; it has 'x' float32 (1, 2)"),
        (np.ones((1, 3), np.float32), "input 'x' must have shape (n, 2), not (1, 3)"),
        (
            X.astype(np.complex64),
            "input 'x' must be of float32, not complex64; convert it with .astype('float32')",
        ),
    ],
)
def test_wrong_inputs_are_told_before_the_target_runs(manager, inputs, message):
    toy("A")
    manager.switch_plugin("a")
    with pytest.raises(InputError) as error:
        manager.execute(manager.prepare_resource("m"), inputs)
    assert str(error.value) == message
    assert manager.profiles()["a:0"].failures == 0


def test_the_first_axis_may_be_any_multiple(manager):
    toy("A")
    manager.switch_plugin("a")
    y = manager.execute(manager.prepare_resource("m"), np.ones((7, 2), np.float32))["y"]
    assert y.shape == (7, 2)


def test_inner_tensors_of_a_target_that_has_none_are_refused(manager):
    toy("A")
    manager.switch_plugin("a")
    prepared = manager.prepare_resource("m")
    for nothing in ((), [], frozenset()):
        assert manager.execute(prepared, X, keep=nothing)["y"].tolist() == [[2, 4]]
    with pytest.raises(TargetError, match="cannot return tensors inside the model"):
        manager.execute(prepared, X, keep=None)
    with pytest.raises(TargetError) as error:
        manager.execute(prepared, X, keep=["inner"])
    assert str(error.value) == (
        "target 'a' cannot return tensors inside the model, so keep= cannot be given: it lacks the capability "
        "intermediates"
    )


def test_what_a_target_returns_that_is_no_prepared_resource_is_handed_back_to_it(manager):
    toy(
        "A",
        prepare_resource=lambda self, resource, config=None: ["mine", resource],
        execute=lambda self, prepared, inputs, **kwargs: (prepared, inputs, kwargs),
    )
    manager.switch_plugin("a")
    prepared = manager.prepare_resource("m")
    assert prepared.signature is None
    assert manager.execute(prepared, 5, speed=2) == (["mine", "m"], 5, {"speed": 2})


def test_what_was_not_prepared_is_told(manager):
    cls = toy("A")
    manager.switch_plugin("a")
    with pytest.raises(TargetError) as error:
        manager.execute("model.onnx", X)
    assert str(error.value) == "execute needs what prepare_resource returned, not str"
    own = cls()
    with pytest.raises(TargetError, match="was not made by the registry: execute with its own method"):
        manager.execute(own.prepare_resource("m"), X)


def test_a_configuration_that_cannot_be_told_from_another_is_refused(manager):
    toy("A")
    manager.switch_plugin("a")
    thing = object()
    with pytest.raises(TargetError) as error:
        manager.prepare_resource("m", config={"thing": thing})
    assert str(error.value) == (
        "the configuration for target 'a' must be plain values (numbers, strings, lists, dicts, arrays), "
        f"not {{'thing': {thing!r}}}"
    )


def test_an_object_whose_content_cannot_be_told_is_prepared_each_time(manager):
    cls = toy("A")
    manager.switch_plugin("a")
    thing = object()
    first, second = manager.prepare_resource(thing), manager.prepare_resource(thing)
    assert first is not second
    assert first.key != second.key
    assert cls.instances[0].calls == ["initialize", "prepare", "prepare"]


def test_the_configuration_of_a_manager_names_device_and_arguments():
    cls = toy("A")
    with ResourceManager({"device": "a:1", "targets": {"a": {"offset": 3.0}}}) as manager:
        assert (cls.instances[-1].device_id, cls.instances[-1].offset) == (1, 3.0)
        assert manager.execute(manager.prepare_resource("m"), X)["y"].tolist() == [[5, 7]]
        manager.switch_plugin("a", offset=4.0)
        assert cls.instances[-1].offset == 4.0


def test_arguments_of_a_target_that_there_is_not_are_refused():
    cls = toy("A")
    with ResourceManager({"device": "a", "targets": {"project:a": {"offset": 3.0}}}):
        assert cls.instances[-1].offset == 3.0
    with pytest.raises(
        DeviceError, match=r"^there is no device 'numpyy'\. Did you mean 'numpy'\?\n  devices are "
    ):
        ResourceManager({"device": "a", "targets": {"numpyy": {}}}).initialize()


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"devise": "a"},
            "a resource manager has no setting 'devise'. Did you mean 'device'?\n  it has device, verbose, targets",
        ),
        ({"targets": []}, "targets must be a table of tables of arguments, not []"),
        ({"device": 5}, "argument device: device must be a device such as auto, cpu or rtlsim:0, not 5"),
        ({"verbose": "yes"}, "argument verbose: verbose must be true or false, not 'yes'"),
    ],
)
def test_a_wrong_configuration_is_told(config, message):
    with pytest.raises(SettingsError) as error:
        ResourceManager(config)
    assert str(error.value) == message


def test_what_is_held_and_prepared_is_listed(manager):
    toy("A")
    toy("B")
    manager.switch_plugin("a")
    prepared = manager.prepare_resource("m")
    manager.switch_plugin("b")
    info = manager.get_resource_info()
    assert (info["active"], info["device_id"], info["automatic"]) == ("b", 0, False)
    assert [(t["name"], len(t["resources"])) for t in info["targets"]] == [("a", 1), ("b", 0)]
    one = manager.get_resource_info(prepared)
    assert info["targets"][0]["resources"] == [one]
    assert one | {"key": ""} == {
        "resource": "m",
        "key": "",
        "target": "a",
        "device_id": 0,
        "ready": True,
        "inputs": [["x", [1, 2], "float32", "FLOAT32"]],
        "outputs": [["y", [1, 2], "float32", "FLOAT32"]],
    }


def test_profiles_say_what_each_target_took(manager):
    cls = toy("A")
    manager.switch_plugin("a")
    prepared = manager.prepare_resource("m")
    for _ in range(3):
        manager.execute(prepared, np.ones((4, 2), np.float32))
    cls.fails_in = ("execute",)
    with pytest.raises(TargetError):
        manager.execute(prepared, X)
    profile = manager.profiles()["a:0"]
    assert (profile.target, profile.device_id, profile.prepares, profile.executes) == ("a", 0, 1, 3)
    assert (profile.samples, profile.failures, len(profile.latencies)) == (12, 1, 3)
    assert profile.execute_seconds == pytest.approx(sum(profile.latencies))
    assert profile.throughput == pytest.approx(12 / profile.execute_seconds)


def test_automatic_choice_goes_by_priority_availability_and_the_model(only_toys):
    best, middle, last = (
        toy("Best", priority=100, available=False),
        toy("Middle", priority=50, refuses=("big",)),
        toy("Last", priority=0),
    )
    with ResourceManager({"device": "toy"}) as manager:
        assert manager.active is middle.instances[0]
        assert manager.prepare_resource("small").target is middle.instances[0]
        assert manager.prepare_resource("big").target is last.instances[0]
        assert manager.active is last.instances[0]
        assert manager.get_resource_info()["automatic"] is True
        best.available = True
        get_registry().register(best)  # the choice for what is known is made again when plugins change
        assert manager.prepare_resource("big").target is best.instances[-1]


def test_automatic_choice_passes_over_a_target_that_fails_in_initialize(only_toys, caplog):
    toy("Best", priority=100, fails_in=("initialize",))
    good = toy("Good")
    with ResourceManager({"device": "auto"}) as manager:
        assert manager.active is good.instances[0]
    assert "skipped: target 'best' failed in initialize: RuntimeError: initialize broke" in caplog.text


@pytest.mark.parametrize(
    "error", [DeviceError("no board 0 on the bus"), InputError("what it needs is missing")]
)
def test_automatic_choice_passes_over_a_target_that_tells_an_error_of_its_own(only_toys, caplog, error):
    def initialize(self):
        raise error

    toy("Best", priority=100, initialize=initialize)
    good = toy("Good")
    with ResourceManager({"device": "auto"}) as manager:
        assert manager.active is good.instances[0]
    assert f"skipped: {error}" in caplog.text


def test_automatic_choice_without_a_target_names_the_reasons(only_toys):
    with pytest.raises(TargetUnavailableError) as error:
        ResourceManager().initialize()
    assert str(error.value) == "no target for any device can be used here:\n  none is registered"
    toy("A", available=False)
    toy("B", requires=("no-such-thing>=2",))
    with pytest.raises(TargetUnavailableError) as error:
        ResourceManager({"device": "toy"}).initialize()
    assert str(error.value) == (
        "no target for device 'toy' can be used here:\n"
        "  a: its cable is not plugged in: plug it in\n"
        "  b: requires no-such-thing>=2, which is not installed: pip install 'no-such-thing>=2'"
    )


def test_automatic_choice_without_one_that_supports_the_model_names_the_reasons(only_toys):
    toy("A", refuses=("m",))
    with ResourceManager() as manager, pytest.raises(UnsupportedResourceError) as error:
        manager.prepare_resource("m")
    assert str(error.value) == "no target for any device can execute m:\n  a: it is too large"


def test_a_target_that_raises_a_user_error_of_its_own_is_not_wrapped(manager):
    def initialize(self):
        raise DeviceError("target 'a' has no device 0; it has 4 to 7")

    toy("A", initialize=initialize)
    with pytest.raises(DeviceError, match=r"^target 'a' has no device 0; it has 4 to 7$"):
        manager.switch_plugin("a")


def test_the_base_class_says_what_is_missing():
    with pytest.raises(TypeError, match=r"abstract class Target with.* execute.* prepare_resource"):
        Target()
