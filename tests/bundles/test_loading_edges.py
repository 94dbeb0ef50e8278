"""Loading at its edges: what is no file, helper modules, files loaded twice, threads that need one base, whose op it is."""

import os
import sys
import threading
import types

import numpy as np
import pytest

from brainsmith import ops
from brainsmith import plugins as door
from brainsmith.bundles.bundle_registry import BUNDLES, BundleRegistry
from brainsmith.errors import BundleClashError, BundleDefinitionError, BundleError, DuplicatePluginError
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.plugin.core import get_registry, kernel
from brainsmith.plugin.plugin_registry import REGISTRY
from tests.bundles.making import builder, make_bundle, make_op, source
from tests.bundles.test_bundle_loader import refused, run

HELPER = """\
import numpy as np
from brainsmith import ops
from brainsmith.plugin.core import op

@op(name="helped", num_inputs=1)
class Helped(ops.Op):
    def forward(self, x):
        return x * np.float32({})
"""


def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    for path in (tmp_path / "pipe.py", "/dev/zero"):
        assert refused(BundleError, door.load_plugin, path) == (
            f"{path}: a bundle is loaded from a file or folder, and this is a pipe or a device"
        )


@pytest.mark.parametrize("path", [None, 3, b"x", ""])
def test_what_is_no_path_is_refused(path):
    message = f"the path of a bundle must be text or a Path, not {path!r}"
    assert refused(BundleError, door.load_plugin, path) == message


@pytest.mark.parametrize("path", ["a" * 300, "a\0b"])
def test_a_path_that_no_system_takes_is_not_there(path):
    assert refused(BundleError, door.load_plugin, path).endswith(": there is no such file or folder")


@pytest.mark.parametrize("digest", ["", "abc", 5, "g" * 64])
def test_a_sha256_that_is_none_is_refused(write, digest):
    assert refused(BundleDefinitionError, door.load_plugin, write(source()), sha256=digest) == (
        f"sha256 of load_plugin: it must be 64 hexadecimal digits, not {digest!r}"
    )


def test_a_time_limit_of_nothing_is_refused(write):
    assert refused(BundleDefinitionError, door.load_plugin, write(source()), time_limit=0) == (
        "time_limit of load_plugin: it must be a number of seconds above 0, not 0"
    )


def test_a_file_that_is_loaded_twice_leaves_the_first_module_in_place(write):
    path = write(source())
    module = door.load_plugin(path).module
    assert "is registered already" in refused(BundleClashError, door.load_plugin, path)
    assert sys.modules[module.__name__] is module
    door.unload_plugin("acme")
    assert module.__name__ not in sys.modules


def test_ops_of_a_helper_module_come_and_go_with_each_load(write):
    write(HELPER.format(2), "helper.py")
    path = write("from . import helper\n" + source())
    for _ in range(2):
        door.load_plugin(path)
        assert run("helped") == 6.0
        door.unload_plugin("acme")
        assert not ops.is_custom_op_registered("helped")
    door.load_plugin(path)
    write(HELPER.format(50), "helper.py")  # of another size: bytecode is believed by second and size
    write("from . import helper\n1 / 0\n" + source())
    with pytest.raises(BundleError):
        door.reload_plugin("acme")
    assert run("helped") == 6.0
    write("from . import helper\n" + source(version="1.1.0"))
    assert door.reload_plugin("acme")
    assert run("helped") == 150.0


@pytest.mark.slow
def test_threads_whose_bundles_need_one_base_share_it(put):
    put("base", text=source("base", more="import time; bundle.set_initialize_fn(lambda r: time.sleep(0.2))"))
    paths = [put(name, needs={"base": ">=1"}) for name in ("one", "two")]
    failed = []

    def load(path):
        try:
            door.load_plugin(path)
        except BundleError as error:
            failed.append(error)

    threads = [threading.Thread(target=load, args=[path]) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sorted(door.list_plugins().names()) == ["base", "one", "two"]


def test_a_bundle_is_in_the_list_at_each_moment_of_a_reload(write):
    seen = []
    path = write(source())
    door.load_plugin(path)
    BUNDLES.get_plugin("acme").set_cleanup_fn(lambda registry: seen.append(door.is_plugin_loaded("acme")))
    sys.modules["seen_by_acme"] = types.SimpleNamespace(
        look=lambda: seen.append(door.get_plugin_info("acme").version)
    )
    try:
        look = "import seen_by_acme\nbundle.set_initialize_fn(lambda registry: seen_by_acme.look())"
        write(source(version="1.1.0", more=look))
        door.reload_plugin("acme")
    finally:
        del sys.modules["seen_by_acme"]
    assert seen == [True, "1.0.0"]
    assert door.get_plugin_info("acme").version == "1.1.0"


def test_an_object_is_found_while_another_one_takes_its_place(monkeypatch):
    old, new = make_op("acme_op"), make_op("acme_op")
    ops.register_custom_op(old)
    info = get_registry().resolve("op", "acme_op")
    key = info.type, info.reference
    found = []
    with REGISTRY.held():
        del REGISTRY._objects[key]
        reader = threading.Thread(target=lambda: found.append(REGISTRY.load(info)))
        reader.start()
        reader.join(0.05)
        REGISTRY._objects[key] = new
    reader.join()
    assert found == [new]
    ops.unregister_custom_op("acme_op")


def test_a_failed_registration_renames_no_op():
    bundles, op = BundleRegistry(), make_op("acme_op")
    bundles.register(builder("first").build().set_custom_operations_fn(lambda: [op]))
    renaming = builder("second").build().set_plugins_fn(lambda: [("op", op, {"name": "other_op"})])
    assert refused(BundleClashError, bundles.register, renaming) == (
        "bundle 'second v1.0.0' cannot be registered: the op 'acme_op' is one of the bundle 'first'; "
        "register another object"
    )
    failing = builder("third").build()
    mine = make_op("mine")
    failing.set_plugins_fn(lambda: [("op", mine, {"name": "renamed"}), ("step", 3, {})])
    refused(BundleDefinitionError, bundles.register, failing)
    assert (op.name, op.bundle, mine.name, mine.bundle) == ("acme_op", "first", "mine", "")
    bundles.unregister("first")
    bundles.register(renaming)
    assert (op.name, op.bundle) == ("other_op", "second")
    bundles.unregister("second")
    assert (op.name, op.bundle) == ("acme_op", "")


def test_a_failed_registration_leaves_no_operator_in_a_domain_s_table(monkeypatch):
    prepare_finn()
    from finn.custom_op.fpgadataflow.hwcustomop import HWCustomOp

    domain = types.ModuleType("acme_domain")
    domain.custom_op = {}
    monkeypatch.setitem(sys.modules, "acme_domain", domain)

    def initialise(registry):
        class Acme(HWCustomOp):
            pass

        kernel(name="Acme", domain="acme_domain", op_type="Acme")(Acme)
        assert domain.custom_op == {"Acme": Acme}
        raise RuntimeError("later")

    with pytest.raises(BundleError, match="RuntimeError: later"):
        BundleRegistry().register(builder().build().set_initialize_fn(initialise))
    assert domain.custom_op == {}


def test_who_owns_the_examples_is_said():
    bundle = builder().build().set_initialize_fn(lambda registry: ops.register_example_custom_ops())
    BundleRegistry().register(bundle)
    assert refused(DuplicatePluginError, ops.register_example_custom_ops) == (
        "the example op 'swish' belongs to the bundle 'acme', which registered it; use it as it is, or unload the "
        "bundle first"
    )
    assert np.isfinite(ops.execute_custom_op("swish", [np.float32(1)]))
    BundleRegistry().unregister("acme")


def test_a_bundle_that_another_one_registered_stays():
    bundles = BundleRegistry()
    bundles.register(
        builder().build().set_initialize_fn(lambda registry: bundles.register(make_bundle("inner")))
    )
    bundles.unregister("acme")
    assert bundles.list_plugins().names() == ["inner"]
