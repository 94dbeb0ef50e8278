"""The view of the one registry: what is registered, found, and made once for each arguments."""

import numpy as np
import pytest

from brainsmith.errors import (
    DeviceError,
    DuplicatePluginError,
    PluginDefinitionError,
    PluginLoadError,
    PluginNotFoundError,
    TargetError,
    TargetUnavailableError,
    UnsupportedResourceError,
)
from brainsmith.plugin.core import get_registry as get_plugin_registry
from brainsmith.plugin.core import target
from brainsmith.targets import PluginInfo, Priority, Target, get_registry, list_plugins
from tests.runtime.toys import Scale, toy

FILE = """\
from brainsmith.plugin.core import target
from brainsmith.runtime.target import Target

@target(name="{name}", priority=60, device_types=("gpu",), display_name="Shown", vendor="Acme", requires=({requires}),
        min_brainsmith="{oldest}", requires_plugins=({needs}))
class Found(Target):
    def prepare_resource(self, resource, config=None):
        return resource
    def execute(self, prepared, inputs, **kwargs):
        return inputs
"""


def write(folder, name, requires="", oldest="", needs="", before=""):
    folder.mkdir(exist_ok=True)
    text = FILE.format(name=name, requires=requires, oldest=oldest, needs=needs)
    (folder / f"{name}.py").write_text(before + text)
    return folder


@pytest.fixture
def registry():
    return get_registry()


def reason_of(registry, name):
    return registry.why_unavailable(registry.get_info(name))


def test_a_class_with_metadata_is_registered_in_the_one_registry(registry):
    cls = toy("Mine", priority=Priority.HIGH, requires=("numpy",))
    info = get_plugin_registry().resolve("target", "mine")
    assert get_plugin_registry().get("target", "mine") is cls
    assert (info.type, info.name, info.version, info.priority) == ("target", "mine", "1.0", 75)
    assert (info.display_name, info.vendor, info.description) == ("The Mine", "Toys", "Multiplies.")
    assert (info.device_types, info.requires, info["colour"]) == (("toy",), ("numpy",), "red")
    assert info.file == __file__.replace("test_target_registry", "toys")
    assert registry.get_info("mine") == info


def test_a_decorated_class_has_its_record_as_metadata():
    @target(name="own", device_types=("gpu",))
    class Own(Scale):
        metadata = classmethod(Target.metadata.__func__)

    assert Own.metadata().name == "own"
    assert (Own.metadata().display_name, Own.metadata().vendor, Own.metadata().priority) == ("own", "", 50)


def test_a_class_that_says_nothing_has_no_metadata():
    class Silent(Scale):
        metadata = classmethod(Target.metadata.__func__)

    with pytest.raises(PluginDefinitionError) as error:
        Silent.metadata()
    assert str(error.value) == (
        f"{__name__}.test_a_class_that_says_nothing_has_no_metadata.<locals>.Silent has no metadata: decorate it with "
        "@target(name=...), or let its metadata() return a PluginInfo"
    )


def test_what_is_no_target_cannot_be_registered(registry):
    with pytest.raises(
        PluginDefinitionError, match=r"a target must be a subclass of brainsmith.targets.Target, not 5$"
    ):
        registry.register(5)
    target(name="fake")(type("Fake", (), {}))
    assert "a target must be a subclass of brainsmith.targets.Target, not <class" in reason_of(
        registry, "fake"
    )


def test_metadata_is_checked_as_the_decorator_s(registry):
    class Wrong(Scale):
        @classmethod
        def metadata(cls):
            return PluginInfo(name="not a name")

    with pytest.raises(
        PluginDefinitionError, match="name= of @target must be a Python identifier, not 'not a name'"
    ):
        registry.register(Wrong)


def test_two_classes_of_one_name_clash(registry):
    toy("Mine")
    other = type("Other", (Scale,), {"metadata": classmethod(lambda cls: PluginInfo(name="mine"))})
    with pytest.raises(DuplicatePluginError, match="target 'mine' is defined twice in framework 'project'"):
        registry.register(other)
    registry.register(other, override=True)
    assert isinstance(registry.get_plugin("mine"), other)


def test_a_target_can_be_unregistered(registry):
    toy("Mine")
    registry.unregister("mine")
    with pytest.raises(PluginNotFoundError):
        registry.get_plugin("mine")


def test_there_is_one_instance_for_each_name_and_arguments(registry):
    toy("A")
    toy("B")
    first = registry.get_plugin("a")
    assert registry.get_plugin("a") is first
    assert registry.get_plugin("a", device_id=0) is first
    assert registry.get_plugin("a", device_id=np.int64(0)) is first
    assert registry.get_plugin("a", offset=0.0) is first
    assert registry.get_plugin("a", offset=0) is not first
    assert registry.get_plugin("a", device_id=1) is not first
    assert registry.get_plugin("a", offset=1.0) is not registry.get_plugin("a", offset=1)
    assert registry.get_plugin("b") is not first


def test_pitfall_28_an_explicit_device_id_is_passed_once(registry):
    toy("A")
    assert registry.get_plugin("a", device_id=3).device_id == 3


def test_pitfall_28_what_the_constructor_raises_is_told(registry):
    def broken(self, device_id=0):
        raise TypeError("a device is an ordinal")

    toy("A", __init__=broken)
    with pytest.raises(TargetError, match=r"^target 'a' cannot be made: TypeError: a device is an") as error:
        registry.get_plugin("a", device_id=1)
    assert isinstance(error.value.__cause__, TypeError)


def test_pitfall_28_a_class_that_takes_no_device_has_device_0_only(registry):
    def bare(self):
        self.calls = []

    toy("A", __init__=bare)
    assert registry.get_plugin("a", device_id=0) is registry.get_plugin("a")
    with pytest.raises(DeviceError) as error:
        registry.get_plugin("a", device_id=1)
    assert str(error.value) == "target 'a' has no device 1: it takes no device_id, so it has 0 only"


def test_a_class_may_keep_its_device_where_it_likes(manager):
    def own(self, device_id):
        self.card = device_id
        self.calls = []

    toy("A", __init__=own)
    manager.switch_plugin("a", device_id=2)
    assert manager.active.card == 2
    assert list(manager.profiles()) == ["a:2"]
    manager.release("a", device_id=2)
    assert manager.active is None


@pytest.mark.parametrize("device_id", [-1, "0", 1.0, True, None])
def test_a_device_id_that_is_none_is_refused(registry, device_id):
    toy("A")
    with pytest.raises(DeviceError) as error:
        registry.get_plugin("a", device_id=device_id)
    assert str(error.value) == f"device_id of target 'a' must be a whole number, 0 or more, not {device_id!r}"


@pytest.mark.parametrize(("ids", "told"), [((0, 2), "it has 0, 2"), ((), "it has none here")])
def test_a_device_that_is_not_there_is_told(registry, ids, told):
    toy("A", device_ids=classmethod(lambda cls: ids))
    with pytest.raises(DeviceError) as error:
        registry.get_plugin("a", device_id=1)
    assert str(error.value) == f"target 'a' has no device 1; {told}"


def test_an_argument_that_is_unknown_is_told(registry):
    toy("A")
    with pytest.raises(TargetError) as error:
        registry.get_plugin("a", ofset=1)
    assert (
        str(error.value)
        == "target 'a' takes no argument 'ofset'. Did you mean 'offset'?\n  it takes device_id, offset"
    )


def test_an_unknown_target_lists_the_devices(registry, only_toys):
    toy("Alpha")
    with pytest.raises(DeviceError) as error:
        registry.get_plugin("alfa")
    assert str(error.value) == (
        "there is no device 'alfa'. Did you mean 'alpha'?\n"
        "  devices are auto, alpha, toy (any of alpha); each may be followed by an id, as in 'cpu:0'"
    )
    assert isinstance(error.value, ValueError)
    assert isinstance(error.value, PluginNotFoundError)


def test_targets_are_listed_the_preferred_one_first_with_the_reasons(registry, only_toys):
    toy("Low", priority=1)
    toy("High", priority=99)
    toy("Away", available=False)
    assert list_plugins().names() == ["high", "low"]
    listed = list_plugins(available_only=False)
    assert [(info.name, info.available, info.reason) for info in listed] == [
        ("high", True, ""),
        ("away", False, "its cable is not plugged in: plug it in"),
        ("low", True, ""),
    ]
    assert dict(listed.items())["high"].display_name == "The High"


def test_pitfall_30_a_target_with_an_unmet_requirement_is_listed_with_the_reason(registry, manager, tmp_path):
    folder = write(tmp_path / "more", "boards", requires='"pynq-of-nowhere>=3.0", "numpy>=999", "qonnx"')
    (info,) = registry.discover_plugins(folder)
    reason = reason_of(registry, "boards")
    assert reason.startswith(
        "requires pynq-of-nowhere>=3.0, which is not installed: pip install 'pynq-of-nowhere>=3.0'; "
        "requires numpy>=999, and "
    )
    assert reason.endswith(" is installed: pip install 'numpy>=999'")
    assert info.name in registry.list_plugins(available_only=False).names()
    assert info.name not in registry.list_plugins().names()
    with pytest.raises(TargetUnavailableError) as error:
        manager.switch_plugin("boards")
    assert str(error.value) == f"target 'boards' cannot be used here: {reason}"


@pytest.mark.parametrize(
    "requires",
    ['"numpy"', "\"nowhere; python_version < '3'\""],
)
def test_requirements_are_those_of_pep_508(registry, tmp_path, requires):
    registry.discover_plugins(write(tmp_path / "more", "found", requires=f"{requires},"))
    assert reason_of(registry, "found") == ""


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        (
            {"requires": '"two words",'},
            "requires= of @target names 'two words', which is not a PEP 508 requirement",
        ),
        (
            {"oldest": "new"},
            "min_brainsmith= of @target: a version must be three numbers such as '1.0.0', not 'new'",
        ),
    ],
)
def test_a_definition_that_cannot_be_met_anywhere_is_refused(registry, tmp_path, stated, told):
    folder = write(tmp_path / "more", "found", **stated)
    with pytest.raises(PluginDefinitionError) as caught:
        registry.discover_plugins(folder)
    assert str(caught.value) == f"{folder}/found.py:4: {told}"


def test_a_target_for_another_host_is_unavailable(registry, tmp_path):
    registry.discover_plugins(write(tmp_path / "more", "later", oldest="0.9.0"))
    assert reason_of(registry, "later") == (
        "needs brainsmith 0.9.0 or newer, and this is brainsmith 0.1.0: update brainsmith, or take an older version of "
        "the target"
    )


def test_a_target_that_cannot_be_imported_is_unavailable_and_raises_by_name(registry, tmp_path):
    registry.discover_plugins(write(tmp_path / "more", "broken", before="import nowhere_to_be_found\n"))
    assert "ModuleNotFoundError: No module named 'nowhere_to_be_found'" in reason_of(registry, "broken")
    with pytest.raises(PluginLoadError):
        registry.get_plugin("broken")


def test_a_target_that_raises_when_it_is_asked_is_unavailable(registry):
    def breaks(self):
        raise OSError("no bus")

    toy("A", is_available=breaks)
    assert reason_of(registry, "a").startswith("its is_available raised OSError: no bus (")


def test_a_target_that_is_being_used_is_not_asked_again(registry, manager):
    cls = toy("A")
    manager.switch_plugin("a")
    cls.available = False
    assert reason_of(registry, "a") == ""
    manager.release("a")
    assert reason_of(registry, "a") == "its cable is not plugged in: plug it in"


def test_a_folder_is_discovered_without_importing_it(registry, tmp_path):
    folder = write(tmp_path / "more", "found", before="import sys\nsys.exit(7)\n")
    (info,) = registry.discover_plugins(folder)
    assert (info.name, info.priority, info.display_name, info.vendor) == ("found", 60, "Shown", "Acme")
    assert info.device_types == ("gpu",)
    write(tmp_path / "good", "works")
    registry.discover_plugins(str(tmp_path / "good"))
    assert type(registry.get_plugin("works")).__name__ == "Found"


def test_a_package_is_discovered_by_its_name(registry):
    found = registry.discover_plugins("brainsmith.targets")
    assert "reference" in found.names()
    with pytest.raises(PluginNotFoundError) as error:
        registry.discover_plugins("brainsmith.nowhere")
    assert str(error.value) == "'brainsmith.nowhere' is neither a folder nor a package that can be imported"


def test_a_folder_with_a_broken_file_is_refused(registry, tmp_path):
    (tmp_path / "bad.py").write_text(
        "from brainsmith.plugin import target\n@target(name=NAME)\nclass A: pass\n"
    )
    with pytest.raises(PluginDefinitionError, match=r"bad.py:2: name= of @target must be a literal"):
        registry.discover_plugins(tmp_path)


def test_a_dependency_that_is_missing_or_unavailable_makes_a_target_unavailable(registry):
    toy("Upper", requires_plugins=("base",))
    assert reason_of(registry, "upper").startswith("requires the target 'base': no target named 'base'")
    toy("Base", available=False)
    assert (
        reason_of(registry, "upper")
        == "requires the target 'base', which cannot be used here: its cable is not plugged in: plug it in"
    )
    toy("Other", requires_plugins=("kernel:Nowhere",))
    assert reason_of(registry, "other").startswith("requires the kernel 'Nowhere': no kernel named 'Nowhere'")


def test_dependencies_in_a_circle_are_told(registry):
    toy("A", requires_plugins=("b",))
    toy("B", requires_plugins=("c",))
    toy("C", requires_plugins=("b",))
    assert reason_of(registry, "a").endswith("requires itself: project:b > project:c > project:b")


def test_auto_select_takes_the_best_that_is_available_and_supports_the_model(registry, only_toys):
    toy("Gone", priority=99, available=False)
    toy("Best", priority=90, device_types=("other",))
    toy("Good", priority=80, refuses=("big",))
    toy("Last", priority=10)
    assert type(registry.auto_select()).__name__ == "Best"
    assert type(registry.auto_select("toy")).__name__ == "Good"
    assert type(registry.auto_select("toy", "big")).__name__ == "Last"
    assert registry.auto_select("last") is registry.get_plugin("last")
    with pytest.raises(DeviceError, match="there is no device 'gpu'"):
        registry.auto_select("gpu")
    registry.unregister("last")
    with pytest.raises(UnsupportedResourceError) as error:
        registry.auto_select("toy", "big")
    assert str(error.value) == (
        "no target for device 'toy' can execute big:\n"
        "  gone: its cable is not plugged in: plug it in\n"
        "  good: it is too large"
    )


def test_what_supports_raises_is_the_reason(registry, only_toys):
    def breaks(self, resource):
        raise ValueError("no header")

    toy("A", supports=breaks)
    with pytest.raises(UnsupportedResourceError, match=r"a: its supports raised ValueError: no header \("):
        registry.auto_select("toy", "m")


def test_a_target_that_states_a_reason_is_not_available(registry):
    toy("A", unavailable_reason=lambda self: "no card", is_available=Target.is_available)
    assert reason_of(registry, "a") == "no card"


def test_a_target_that_states_no_reason_may_still_be_unavailable(registry):
    toy("A", unavailable_reason=lambda self: "", is_available=lambda self: False)
    assert reason_of(registry, "a") == "it says that it is not available here"
