"""A library that nobody holds any more ends its worker at once, without a collection of garbage."""

import gc
import os

import pytest

from brainsmith.native.isolation.isolated_library import open_isolated


@pytest.fixture
def no_collection():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_dropped_library_ends_its_worker(bad_library, no_collection):
    library = open_isolated(bad_library)
    library.ops[0].output_shape([(2, 3)])
    pid = library.pid
    assert is_alive(pid)
    del library
    assert not is_alive(pid)


@pytest.mark.slow
def test_an_op_alone_keeps_the_worker(bad_library, no_collection):
    library = open_isolated(bad_library)
    pid, op = library.pid, library.ops[0]
    del library
    assert is_alive(pid)
    del op
    assert not is_alive(pid)
