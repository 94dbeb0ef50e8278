"""Libraries are judged before they are loaded, tried in a child process, and really unloaded."""

import hashlib

import numpy as np
import pytest

from brainsmith import ops
from brainsmith.errors import (
    BundleClashError,
    BundleVersionError,
)
from brainsmith.native import open_library
from brainsmith.plugins import list_plugins, load_plugin, unload_plugin
from tests.native.building import build_plugin, is_mapped

X = np.array([1, 2, 3], np.float32)


def test_a_library_says_what_it_is(good):
    library = open_library(good)
    assert (library.name, library.version, library.description, library.author) == (
        "spoilt",
        "1.2.3",
        "for tests",
        "",
    )
    assert (library.min_brainsmith, library.max_brainsmith) == ("", "")
    assert library.path == good
    assert library.sha256 == hashlib.sha256(good.read_bytes()).hexdigest()
    assert [(op.name, op.version, op.bundle, op.num_inputs) for op in library.ops] == [
        ("times", "1.2.3", "spoilt", 1),
        ("plus", "1.2.3", "spoilt", 1),
    ]
    assert [op.has_gradient for op in library.ops] == [True, False]
    assert repr(library) == "<native plugin spoilt 1.2.3, 2 operations>"
    assert library.ops[0].forward(X).tolist() == [2, 4, 6]
    library.close()
    assert repr(library) == "<native plugin spoilt 1.2.3, 2 operations, closed>"


def test_the_versions_of_hosts_that_a_plugin_wants_are_passed_on(tmp_path):
    library = open_library(build_plugin(tmp_path, MIN='"999.0.0"', MAX='"999.1.0"'))
    assert (library.min_brainsmith, library.max_brainsmith) == ("999.0.0", "999.1.0")
    library.close()


class TestBundles:
    """What a library says is judged with the other bundles; one that is refused is unmapped again."""

    def refused(self, path, error):
        before = ops.list_custom_ops(), bundles()
        with pytest.raises(error) as caught:
            load_plugin(path)
        assert (ops.list_custom_ops(), bundles()) == before
        assert not is_mapped(f"brainsmith-{path.name}")
        return str(caught.value)

    def test_one_that_demands_host_999(self, tmp_path):
        assert self.refused(build_plugin(tmp_path, MIN='"999.0.0"'), BundleVersionError) == (
            "bundle 'spoilt v1.2.3' needs brainsmith 999.0.0 or newer, and this is brainsmith 0.1.0: "
            "update brainsmith, or take an older version of the bundle"
        )

    def test_an_op_that_exists(self, tmp_path, good):
        load_plugin(good)
        path = build_plugin(tmp_path, NAME='"other"', SECOND_NAME='"minus"')
        assert self.refused(path, BundleClashError) == (
            "bundle 'other v1.2.3' cannot be registered: the op 'times' exists already:\n"
            f"  spoilt:times at {good}\n  other:times at {path}"
        )
        assert ops.execute_custom_op("times", [X]).tolist() == [2, 4, 6]
        unload_plugin("spoilt")
        assert not is_mapped("brainsmith-good")


def bundles():
    return [info.name for info in list_plugins() if info.type == "bundle"]
