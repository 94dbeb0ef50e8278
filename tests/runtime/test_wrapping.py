"""A class that knows nothing of targets becomes one."""

import threading

import numpy as np
import pytest

from brainsmith.errors import PluginDefinitionError, TargetError
from brainsmith.targets import (
    Capabilities,
    Priority,
    ResourceManager,
    Target,
    create_backend_plugin,
    get_registry,
)
from tests.runtime.toys import in_threads

X = np.float32([1, 2])


class Minimal:
    def prepare_model(self, model):
        return f"prepared {model}"

    def execute(self, prepared, inputs):
        return {"of": prepared, "y": inputs * 2}


class Full:
    made = []

    def __init__(self, device_id, speed=1):
        self.calls = [("made", device_id, speed)]
        Full.made.append(self)

    def is_available(self):
        return True

    def supports(self, model):
        return "it is odd" if model == "odd" else ""

    def get_capabilities(self):
        return {"batch": True}

    def initialize(self):
        self.calls.append("initialize")

    def prepare_model(self, model, config=None):
        return model, config

    def execute(self, prepared, inputs, gain=1):
        return [prepared, inputs * gain]

    def cleanup(self):
        self.calls.append("cleanup")


def test_a_minimal_class_is_a_target(manager):
    cls = create_backend_plugin(
        backend_class=Minimal,
        name="mini",
        display_name="Mini",
        version="2.0",
        priority=Priority.LOW,
        requires=["numpy"],
    )
    assert issubclass(cls, Target)
    info = cls.metadata()
    assert (info.name, info.display_name, info.version, info.priority) == ("mini", "Mini", "2.0", 25)
    assert (info.requires, info.device_types) == (("numpy",), ())
    get_registry().register(cls)
    manager.switch_plugin("mini")
    result = manager.execute(manager.prepare_resource("m"), X)
    assert result["of"] == "prepared m"
    assert result["y"].tolist() == [2, 4]
    assert manager.active.get_capabilities() == Capabilities()


def test_the_methods_that_a_class_has_are_used(manager):
    Full.made.clear()
    get_registry().register(create_backend_plugin(Full, "full", device_types=("toy",)))
    manager.switch_plugin("full", device_id=2, speed=7)
    prepared = manager.prepare_resource("m", config={"a": 1})
    prepared_result, y = manager.execute(prepared, X, gain=3)
    assert prepared_result == ("m", {"a": 1})
    assert y.tolist() == [3, 6]
    assert manager.get_resource_info()["targets"][0]["capabilities"]["batch"] is True
    with pytest.raises(TargetError, match="target 'full' cannot execute odd: it is odd"):
        manager.prepare_resource("odd")
    manager.close()
    (backend,) = Full.made
    assert backend.calls == [("made", 2, 7), "initialize", "cleanup"]


def test_a_configuration_for_a_class_that_takes_none_is_told(manager):
    get_registry().register(create_backend_plugin(Minimal, "mini"))
    manager.switch_plugin("mini")
    with pytest.raises(TargetError) as error:
        manager.prepare_resource("m", config={"a": 1})
    assert str(error.value) == (
        "target 'mini' takes no configuration: Minimal.prepare_model has no second parameter for it"
    )


def test_one_class_can_be_several_targets():
    for name in ("one", "two"):
        get_registry().register(create_backend_plugin(Minimal, name))
    assert get_registry().get_plugin("one") is not get_registry().get_plugin("two")


@pytest.mark.parametrize(
    ("cls", "told"),
    [
        (int, "int has no prepare_model and no execute"),
        (type("E", (), {"execute": len}), "E has no prepare_model"),
    ],
)
def test_a_class_without_the_methods_is_refused(cls, told):
    with pytest.raises(PluginDefinitionError) as error:
        create_backend_plugin(cls, "wrong")
    assert (
        str(error.value)
        == f"backend_class of target 'wrong' must be a class with prepare_model and execute; {told}"
    )


def test_what_its_constructor_raises_is_told(manager):
    class Broken(Minimal):
        def __init__(self):
            raise OSError("no licence")

    get_registry().register(create_backend_plugin(Broken, "broken"))
    with pytest.raises(TargetError, match=r"target 'broken' failed in initialize: OSError: no licence \("):
        manager.switch_plugin("broken")


def test_threads_that_need_a_slow_class_at_once_share_one_initialised_instance():
    made = []

    class Slow(Full):
        def __init__(self):
            self.calls = []
            made.append(self)
            threading.Event().wait(0.02)

        def execute(self, prepared, inputs):
            self.calls.append("execute")
            return {"y": inputs}

    get_registry().register(create_backend_plugin(Slow, "slow"))
    managers = [ResourceManager() for _ in range(4)]

    def work(number):
        managers[number].switch_plugin("slow")
        managers[number].execute(managers[number].prepare_resource("m"), X)

    in_threads(4, work)
    for manager in managers:
        manager.close()
    assert [instance.calls for instance in made] == [["initialize", *["execute"] * 4, "cleanup"]]


class Levelled:
    def __init__(self, level=0.5, *, mode="fast", **others):
        self.made_with = (level, mode, others)

    def prepare_model(self, model):
        return model

    def execute(self, prepared, inputs):
        return inputs


def test_a_default_that_is_written_out_is_the_same_instance():
    registry = get_registry()
    registry.register(create_backend_plugin(Levelled, name="levelled"))
    one = registry.get_plugin("levelled")
    assert registry.get_plugin("levelled", level=0.5) is one
    assert registry.get_plugin("levelled", device_id=0, mode="fast", level=0.5) is one
    other = registry.get_plugin("levelled", level=1)
    assert other is not one
    assert registry.get_plugin("levelled", mode="fast", level=1) is other
    assert registry.get_plugin("levelled", level=1.0) is not other
    assert registry.get_plugin("levelled", more=2).backend.made_with == (0.5, "fast", {"more": 2})
    assert other.backend.made_with == (1, "fast", {})


def test_an_argument_that_the_class_does_not_take_is_told_before_it_is_made():
    registry = get_registry()
    registry.register(create_backend_plugin(Full, name="full_again"))
    with pytest.raises(TargetError) as error:
        registry.get_plugin("full_again", sped=2)
    assert str(error.value) == (
        "target 'full_again' takes no argument 'sped'. Did you mean 'speed'?\n  it takes device_id, speed"
    )
    assert registry.get_plugin("full_again", speed=1) is registry.get_plugin("full_again")
