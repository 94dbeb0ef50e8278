"""What a library is refused with when it is opened."""

import os

import pytest

from brainsmith import ops
from brainsmith.native import open_library
from brainsmith.plugin.plugin_registry import REGISTRY
from tests.native.building import is_mapped


def refused(path, error, **arguments):
    """Return the message with which a file is refused; ops, registry and memory are as before."""
    before = ops.list_custom_ops(), REGISTRY.generation, len(os.listdir("/proc/self/fd"))
    with pytest.raises(error) as caught:
        open_library(path, **arguments)
    assert type(caught.value) is error
    assert (ops.list_custom_ops(), REGISTRY.generation, len(os.listdir("/proc/self/fd"))) == before
    assert not is_mapped("brainsmith-spoilt")
    return str(caught.value)
