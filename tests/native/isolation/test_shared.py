"""Shared arrays: found again by their address, freed with the last array on them, and no leak."""

import gc
import os
import resource
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith import ops
from brainsmith.errors import SharedMemoryError
from brainsmith.native.isolation import pool as pools
from brainsmith.native.isolation.pool import Pool, place_of
from brainsmith.native.isolation.region import ALIGNMENT, Region
from tests.native.isolation.pool_sizes import bytes_mapped, bytes_used
from tests.plugin.installed import run_python

FLOAT = np.dtype(np.float32)
FILES = 2
"""Descriptors of a region: its own, and the one that Python's mmap keeps."""


def test_a_shared_array_is_an_ordinary_array():
    array = ops.shared_empty((2, 3))
    array[...] = 7
    assert array.dtype == np.float32
    assert array.flags.c_contiguous
    assert array.flags.writeable
    np.testing.assert_array_equal(array + 1, np.full((2, 3), 8, np.float32))


@pytest.mark.parametrize("shape", [(), 0, (3, 0, 2), 5, [2, 2], (1, 1, 1, 1), np.int64(4)])
@pytest.mark.parametrize("dtype", ["float32", np.float64, np.int8, bool, "complex64", ">i4"])
def test_every_shape_and_dtype_of_numbers(shape, dtype):
    array, plain = ops.shared_empty(shape, dtype), np.empty(shape, dtype)
    assert (array.shape, array.dtype) == (plain.shape, plain.dtype)
    assert place_of(array) is not None
    assert array.__array_interface__["data"][0] % ALIGNMENT == 0


def test_views_are_recognised_and_copies_are_not():
    array = ops.shared_empty((8, 4))
    region, offset = place_of(array)
    assert place_of(array[2:]) == (region, offset + 32)
    assert place_of(array.reshape(-1)[3:5]) == (region, offset + 12)
    assert place_of(array.view(np.int32)[1][1:]) == (region, offset + 20)
    assert place_of(np.frombuffer(memoryview(array), np.float32)) == (region, offset)
    assert place_of(array.copy()) is None
    assert place_of(np.empty(3)) is None


def test_a_shared_copy_has_the_values():
    given_ = np.arange(12).reshape(3, 4)[:, ::2]
    copy = ops.shared_like(given_)
    assert place_of(copy) is not None
    np.testing.assert_array_equal(copy, given_)
    assert copy.dtype == given_.dtype
    np.testing.assert_array_equal(ops.shared_like([1.5, 2]), [1.5, 2])


def test_a_view_keeps_the_memory():
    pool = Pool()
    array = pool.empty((1000,), FLOAT)
    array[:] = 5
    view = array[10:12]
    del array
    others = [pool.empty((1000,), FLOAT) for _ in range(10)]
    for other in others:
        other[:] = 0
    assert view.tolist() == [5, 5]
    del view, other, others
    gc.collect()
    assert bytes_used(pool) == 0


@pytest.mark.slow
def test_ten_thousand_arrays_leave_nothing():
    pool = Pool()
    files = len(os.listdir("/proc/self/fd"))
    for at in range(10_000):
        pool.empty((at % 500,), FLOAT)
    assert bytes_used(pool) == 0
    assert len(pool.regions) == 1
    alive = [pool.empty((at % 50, 3), FLOAT) for at in range(2000)]
    for at, array in enumerate(alive):
        array[...] = at
    del alive[::3]
    assert all((array == array.flat[0]).all() for array in alive if array.size)
    alive.clear()
    del array
    assert bytes_used(pool) == 0
    assert len(os.listdir("/proc/self/fd")) == files + FILES


def test_empty_regions_are_given_back_beyond_a_limit(monkeypatch):
    monkeypatch.setattr(pools, "KEPT", 64 << 20)
    pool = Pool()
    files = len(os.listdir("/proc/self/fd"))
    arrays = [pool.empty((48 << 18,), FLOAT) for _ in range(4)]
    assert bytes_mapped(pool) == 4 * (48 << 20)
    arrays.clear()
    assert bytes_mapped(pool) == 48 << 20
    assert len(os.listdir("/proc/self/fd")) == files + FILES


def test_small_blocks_that_are_kept_hold_no_regions(monkeypatch):
    monkeypatch.setattr(pools, "KEPT", 64 << 20)
    pool = Pool()
    arrays = [pool.empty((n,), FLOAT) for _ in range(12) for n in (3 << 20, 16)]
    assert len(pool.regions) == 6
    del arrays[1::2]
    arrays.clear()
    assert (bytes_used(pool), len(pool.regions)) == (0, 2)
    place = place_of(pool.empty((16,), FLOAT))
    assert place_of(pool.empty((16,), FLOAT)) == place


def test_a_large_array_fills_a_region_that_serves_again():
    pool = Pool()
    first = pool.empty((20 << 20,), FLOAT)
    place = place_of(first)
    del first
    assert place_of(pool.empty((20 << 20,), FLOAT)) == place


@given(st.lists(st.tuples(st.integers(1, 40), st.booleans()), max_size=60))
def test_blocks_never_overlap_and_gaps_join(moves):
    region = Region(4096)
    taken = []
    for units, give in moves:
        if give and taken:
            region.give_back(*taken.pop(units % len(taken)))
            continue
        offset = region.take(units * 64)
        free = 4096 - sum(size for _, size in taken)
        if offset is None:
            assert free < units * 64 or len(taken) > 0
            continue
        assert 0 <= offset <= 4096 - units * 64
        assert all(offset + units * 64 <= start or start + size <= offset for start, size in taken)
        taken.append((offset, units * 64))
    for block in taken:
        region.give_back(*block)
    assert (region.used, region.take(4096)) == (0, 0)
    region.release()


def test_eight_threads_get_arrays_of_their_own():
    pool, wrong = Pool(), []

    def work(mark):
        for size in range(1, 200):
            array = pool.empty((size,), FLOAT)
            array[:] = mark
            if not (array == mark).all():
                wrong.append(mark)

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (wrong, bytes_used(pool)) == ([], 0)


@pytest.mark.parametrize(
    ("shape", "dtype", "message"),
    [
        (-1, float, "the extents of a shared array must be 0 or more, not (-1,)"),
        (3, object, "a shared array holds numbers, not object"),
        (3, "U5", "a shared array holds numbers, not <U5"),
        (
            1 << 50,
            np.int8,
            f"an array of {1 << 50} bytes cannot be allocated: this machine has {pools.physical_memory()} bytes of memory",
        ),
    ],
)
def test_what_cannot_be_had_is_said(shape, dtype, message):
    with pytest.raises(SharedMemoryError) as caught:
        ops.shared_empty(shape, dtype)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("kind", "limit", "message"),
    [
        (
            resource.RLIMIT_NOFILE,
            3,
            "no shared memory can be opened: [Errno 24] Too many open files; too many files may be open (ulimit -n)",
        ),
        (
            resource.RLIMIT_FSIZE,
            4096,
            "33554432 bytes of shared memory cannot be allocated: [Errno 27] File too large; "
            "the size of files may be limited (ulimit -f)",
        ),
    ],
)
def test_a_limit_of_resources_is_said(kind, limit, message):
    code = f"""
    import json, resource
    from brainsmith import ops
    ops.shared_empty
    limits = resource.getrlimit({kind})
    resource.setrlimit({kind}, ({limit}, limits[1]))
    try:
        ops.shared_empty(3)
    except MemoryError as error:
        print(json.dumps(str(error)))
    """
    assert run_python(code) == message


def test_more_than_any_address_space_has_cannot_be_mapped():
    open_files = len(os.listdir("/proc/self/fd"))
    with pytest.raises(SharedMemoryError) as caught:
        Region(1 << 60)
    assert str(caught.value) == (
        "1152921504606846976 bytes of shared memory cannot be mapped: [Errno 12] Cannot allocate memory; the address "
        "space may be limited (ulimit -v), or unneeded arrays may still exist"
    )
    assert len(os.listdir("/proc/self/fd")) == open_files


@pytest.mark.slow
def test_a_limit_of_addresses_is_said():
    code = """
    import json, resource
    from brainsmith import ops
    size = 4096 * int(open("/proc/self/statm").read().split()[0])
    ops.shared_empty
    resource.setrlimit(resource.RLIMIT_AS, (size + (300 << 20),) * 2)
    try:
        ops.shared_empty(1 << 30, "int8")
    except MemoryError as error:
        print(json.dumps(str(error)))
    """
    assert run_python(code) == (
        "1073741824 bytes of shared memory cannot be mapped: [Errno 12] Cannot allocate memory; the address space "
        "may be limited (ulimit -v), or unneeded arrays may still exist"
    )


@pytest.mark.slow
def test_a_forked_child_does_not_disturb_its_parent():
    code = """
    import json, os
    from brainsmith import ops
    from brainsmith.native.isolation.pool import place_of
    array = ops.shared_empty(4)
    array[:] = 1
    child = os.fork()
    if not child:
        fresh = ops.shared_empty(4)
        fresh[:] = 9
        array[0] = 2
        os._exit(0 if place_of(fresh) is not None else 1)
    status = os.waitpid(child, 0)[1]
    other = ops.shared_empty(4)
    print(json.dumps([status, array.tolist()]))
    """
    assert run_python(code) == [0, [2, 1, 1, 1]]
