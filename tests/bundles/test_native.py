"""Native libraries as bundles: loaded with and without `plugin.json`, refused whole, rebuilt and loaded again."""

import hashlib
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from brainsmith import ops
from brainsmith import plugins as door
from brainsmith.bundles.bundle_registry import BundleRegistry
from brainsmith.errors import (
    BundleClashError,
    BundleDefinitionError,
    BundleError,
    BundleVersionError,
    LibraryFormatError,
    NativeLibraryError,
    OpError,
)
from brainsmith.plugin.core import get_registry
from tests.bundles.making import make_bundle, state
from tests.native.building import build_plugin, is_mapped


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "spoilt"
    folder.mkdir()
    return folder


def write(folder, **more):
    """Write the `plugin.json` of the library; return its path."""
    values = {"name": "spoilt", "version": "1.2.3", "min_brainsmith_version": "0.1.0", "library": "spoilt.so"}
    path = folder / "plugin.json"
    path.write_text(json.dumps({**values, **more}))
    return path


def refused(error, call, *arguments, **keywords):
    """Call; it must fail, leave everything as it was, and keep no library in memory. Returns the message."""
    before, mapped = state(), is_mapped("spoilt")
    with pytest.raises(error) as caught:
        call(*arguments, **keywords)
    assert state() == before
    assert is_mapped("spoilt") == mapped
    return str(caught.value)


def times(value=3.0):
    return float(ops.execute_custom_op("times", [np.float32([value])])[0])


def test_a_library_is_a_bundle_while_it_is_loaded(folder):
    before = state()
    path = build_plugin(folder)
    bundle = door.load_plugin(path)
    assert str(bundle) == "spoilt v1.2.3"
    info = door.get_plugin_info("spoilt")
    assert (info.version, info.origin, info.min_brainsmith) == ("1.2.3", str(path), "0.0.0")
    assert info.extra == {"ops": ("times", "plus"), "path": str(path)}
    assert ops.get_custom_op("times").bundle == "spoilt"
    assert times() == 6.0
    assert is_mapped("spoilt")
    door.unload_plugin("spoilt")
    assert not ops.is_custom_op_registered("times")
    assert not is_mapped("spoilt")
    assert state() == before


@pytest.mark.slow
def test_a_plugin_json_beside_it_is_honoured(folder):
    path = build_plugin(folder)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    write(folder, sha256=digest, ops=["times"], author="Ann", license="MIT", max_brainsmith_version="0.9.0")
    for way in (path, folder, folder / "plugin.json"):
        door.load_plugin(way)
        info = door.get_plugin_info("spoilt")
        assert (info.author, info.license, info.max_brainsmith) == ("Ann", "MIT", "0.9.0")
        assert get_registry().resolve("op", "times").license == "MIT"
        door.unload_plugin("spoilt")
    write(folder, sha256="0" * 64)
    assert digest in refused(NativeLibraryError, door.load_plugin, folder)
    write(folder, name="other")
    assert refused(BundleDefinitionError, door.load_plugin, folder) == (
        f"{folder}/plugin.json:1: it describes 'other v1.2.3', and {path} is 'spoilt v1.2.3'"
    )
    write(folder, ops=["times", "divide"])
    assert refused(BundleDefinitionError, door.load_plugin, folder) == (
        f"{folder}/plugin.json: the bundle 'spoilt v1.2.3' does not bring the op 'divide', which is among its ops; "
        "it brings plus, times"
    )


@pytest.mark.slow
def test_a_plugin_json_that_describes_another_file_is_not_its_own(folder):
    path = build_plugin(folder)
    (folder / "other.py").write_text("")
    values = {"name": "other", "version": "1.0.0", "min_brainsmith_version": "0.1.0", "module": "other.py"}
    (folder / "plugin.json").write_text(json.dumps(values))
    assert door.load_plugin(path).info.name == "spoilt"


@pytest.mark.slow
def test_pitfall_32_a_library_that_demands_host_999_is_refused(folder):
    path = build_plugin(folder, MIN='"999.0.0"')
    assert refused(BundleVersionError, door.load_plugin, path) == (
        "bundle 'spoilt v1.2.3' needs brainsmith 999.0.0 or newer, and this is brainsmith 0.1.0: "
        "update brainsmith, or take an older version of the bundle"
    )
    write(folder)
    assert "needs brainsmith 999.0.0" in refused(BundleVersionError, door.load_plugin, path)
    path = build_plugin(folder, MIN='"0.0.1"', MAX='"0.0.9"')
    (folder / "plugin.json").unlink()
    assert "works up to brainsmith 0.0.9" in refused(BundleVersionError, door.load_plugin, path)


def test_pitfall_31_an_op_name_that_exists_leaves_the_registry_and_unmaps_the_library(folder):
    bundle = make_bundle("acme", "plus")
    BundleRegistry().register(bundle)
    path = build_plugin(folder)
    assert refused(BundleClashError, door.load_plugin, path) == (
        "bundle 'spoilt v1.2.3' cannot be registered: the op 'plus' exists already:\n"
        f"  acme:plus at {bundle.origin}\n  spoilt:plus at {path}"
    )
    assert not is_mapped("spoilt")


def test_what_is_no_library_is_refused(folder):
    path = folder / "spoilt.so"
    path.write_text("no library")
    assert str(path) in refused(LibraryFormatError, door.load_plugin, path)


@pytest.mark.slow
def test_a_version_that_is_none_is_refused(folder):
    path = build_plugin(folder, VERSION='"one"')
    assert str(path) in refused(BundleError, door.load_plugin, path)


def test_a_library_is_loaded_once(folder):
    path = build_plugin(folder)
    door.load_plugin(path)
    assert refused(BundleClashError, door.load_plugin, path) == (
        "bundle 'spoilt v1.2.3' cannot be registered: 'spoilt v1.2.3' is registered already; remove it first"
    )
    assert times() == 6.0


@pytest.mark.slow
def test_a_rebuilt_library_is_loaded_again(folder):
    path = build_plugin(folder)
    door.load_plugin(path)
    assert door.reload_plugin("spoilt") is False
    build_plugin(folder, FACTOR=5, VERSION='"1.3.0"')
    assert times() == 6.0
    assert door.reload_plugin("spoilt") is True
    assert (times(), door.get_plugin_info("spoilt").version) == (15.0, "1.3.0")
    path.write_text("no library")
    with pytest.raises(LibraryFormatError):
        door.reload_plugin("spoilt")
    assert (times(), door.get_plugin_info("spoilt").version) == (15.0, "1.3.0")
    build_plugin(folder, MIN='"999.0.0"')
    with pytest.raises(BundleVersionError):
        door.reload_plugin("spoilt")
    assert times() == 15.0
    door.unload_plugin("spoilt")
    assert not is_mapped("spoilt")


@pytest.mark.slow
@pytest.mark.parametrize("isolation", [None, "process"])
def test_a_reload_is_one_moment_to_eight_threads(folder, isolation):
    build_plugin(folder)
    door.load_plugin(folder / "spoilt.so", isolation=isolation)
    build_plugin(folder, FACTOR=5)
    done = threading.Event()

    def call(number):
        found = []
        value = np.float32([3]) if number % 2 else ops.Tensor(np.float32([3]))
        while not done.is_set():
            found.append(float(ops.execute_custom_op("times", [value]).sum()))
        return found

    with ThreadPoolExecutor(8) as pool:
        results = [pool.submit(call, number) for number in range(8)]
        time.sleep(0.05)
        assert door.reload_plugin("spoilt") is True
        time.sleep(0.05)
        done.set()
        for found in (result.result() for result in results):
            assert found == sorted(found)
            assert set(found) <= {6.0, 15.0}
    assert times() == 15.0
    held = ops.get_custom_op("times")
    door.unload_plugin("spoilt")
    with pytest.raises(OpError, match=r"^Operation 'times' was removed: native plugin spoilt "):
        held.forward(np.float32([3]))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("times", "reload"),
        ("spoilt:times", "replace"),
        pytest.param("times", "replace", marks=pytest.mark.slow),
        pytest.param("spoilt:times", "reload", marks=pytest.mark.slow),
    ],
)
def test_a_call_takes_what_has_the_name_that_it_asked_for(folder, name, change):
    build_plugin(folder)
    door.load_plugin(folder / "spoilt.so")

    class Input:
        changed = False

        def __array__(self, dtype=None, copy=None):
            if not self.changed:  # its op is found, and its call has not begun
                self.changed = True
                replace() if change == "replace" else reload()
            return np.float32([3])

    def reload():
        build_plugin(folder, FACTOR=5)
        door.reload_plugin("spoilt")

    def replace():
        door.unload_plugin("spoilt")
        ops.register_custom_op(
            ops.CustomOpBuilder("times", 1).forward(lambda inputs: inputs[0] * np.float32(5)).build()
        )

    try:
        if (name, change) == ("spoilt:times", "replace"):
            with pytest.raises(OpError, match=r"^Operation 'times' was removed: native plugin spoilt "):
                ops.execute_custom_op(name, [Input()])
        else:
            assert ops.execute_custom_op(name, [Input()]).tolist() == [15]
    finally:
        if change == "replace":
            ops.unregister_custom_op("times")
        else:
            door.unload_plugin("spoilt")


def test_a_rebuilt_library_whose_op_is_taken_leaves_the_old_one(folder):
    build_plugin(folder)
    BundleRegistry().register(make_bundle("acme", "minus"))
    door.load_plugin(folder / "spoilt.so")
    before = state()
    build_plugin(folder, FACTOR=5, SECOND_NAME='"minus"')
    with pytest.raises(BundleClashError, match="the op 'minus' exists already"):
        door.reload_plugin("spoilt")
    assert state() == before
    assert times() == 6.0
    assert ops.get_custom_op("times").bundle == "spoilt"
    door.unload_plugin("spoilt")
    assert not is_mapped("spoilt")


@pytest.mark.slow
def test_a_library_in_a_process_of_its_own(folder):
    path = build_plugin(folder)
    door.load_plugin(path, isolation="process")
    assert times() == 6.0
    assert not is_mapped("spoilt.so")
    door.unload_plugin("spoilt")
    write(folder, isolation="process", time_limit=5)
    door.load_plugin(folder)
    assert times() == 6.0
    build_plugin(folder, FACTOR=5)
    assert door.reload_plugin("spoilt") is True
    assert times() == 15.0
    door.unload_plugin("spoilt")
    write(folder, isolation="none")
    door.load_plugin(folder)
    assert is_mapped("spoilt")
