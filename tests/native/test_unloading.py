"""A library is unloaded once nobody is in it, and then really gone."""

import gc
import hashlib
import logging
import os
import threading
import time

import numpy as np
import pytest

from brainsmith.errors import (
    NativeLibraryError,
    OpError,
)
from brainsmith.native import open_library
from tests.native.building import build_plugin, is_mapped

X = np.array([1, 2, 3], np.float32)


def wait_for_call(library):
    """Wait until a thread is in the midst of a call."""
    until = time.monotonic() + 10
    while not library._calls():
        assert time.monotonic() < until
        time.sleep(0.001)


class TestUnloading:
    def test_it_is_unmapped_and_its_ops_say_so(self, good):
        library = open_library(good)
        (op, _), mapped = library.ops, is_mapped("brainsmith-good.so")
        library.close()
        library.close()
        assert (mapped, is_mapped("brainsmith-good.so")) == (True, False)
        gone = f"Operation 'times' was removed: native plugin spoilt 1.2.3 ({good}) was unloaded"
        for use in (
            lambda: op.forward(X),
            lambda: op.backward(X, [X], X),
            lambda: op.validate_inputs([X]),
            lambda: op.output_shape([(3,)]),
            lambda: op.forward_into([X], [X.copy()]),
        ):
            with pytest.raises(OpError) as caught:
                use()
            assert str(caught.value) == gone

    @pytest.mark.slow
    def test_pitfall_33_an_op_alone_keeps_the_library(self, good):
        """The code of an op must not be unmapped while it can be called."""
        op = open_library(good).ops[0]
        gc.collect()
        assert op.forward(X).tolist() == [2, 4, 6]
        assert is_mapped("brainsmith-good.so")
        del op
        gc.collect()
        assert not is_mapped("brainsmith-good.so")

    @pytest.mark.slow
    def test_a_running_call_is_waited_for(self, tmp_path):
        library = open_library(build_plugin(tmp_path, FORWARD="sleeps"))
        results = []
        thread = threading.Thread(target=lambda: results.append(library.ops[0].forward(X).tolist()))
        thread.start()
        wait_for_call(library)
        library.close()
        thread.join()
        assert results == [[2, 4, 6]]
        assert not is_mapped("brainsmith-spoilt.so")

    @pytest.mark.slow
    def test_a_call_that_does_not_end_keeps_it_loaded(self, tmp_path):
        library = open_library(build_plugin(tmp_path, FORWARD="sleeps"))
        thread = threading.Thread(target=library.ops[0].forward, args=(X,))
        thread.start()
        wait_for_call(library)
        with pytest.raises(NativeLibraryError) as caught:
            library.close(time_limit=0.01)
        assert str(caught.value) == (
            "native plugin 'spoilt' cannot be unloaded: 1 of its calls did not end within 0.01 seconds"
        )
        thread.join()
        assert library.ops[0].forward(X).tolist() == [2, 4, 6]
        library.close()

    def test_a_finaliser_that_the_collector_runs_after_unloading_is_told(self, good):
        """What is found with a library in a cycle is finalised after the library was unmapped."""
        said = []

        class Holder:
            def __del__(self):
                try:
                    self.op.forward(X)
                except OpError as error:
                    said.append(str(error))

        holder = Holder()
        holder.op, holder.itself = open_library(good).ops[0], holder
        del holder
        gc.collect()
        assert said == [f"Operation 'times' was removed: native plugin spoilt 1.2.3 ({good}) was unloaded"]
        assert not is_mapped("brainsmith-good.so")

    @pytest.mark.slow
    def test_a_forked_child_does_not_wait_for_its_parents_threads(self, tmp_path):
        library = open_library(build_plugin(tmp_path, FORWARD="sleeps"))
        thread = threading.Thread(target=library.ops[0].forward, args=(X,))
        thread.start()
        wait_for_call(library)
        child = os.fork()
        if not child:
            try:
                library.close(0.05)
                os._exit(0 if library.closed and not is_mapped("brainsmith-spoilt.so") else 3)
            finally:
                os._exit(4)
        assert os.waitpid(child, 0)[1] == 0
        thread.join()
        assert not library.closed
        library.close()

    @pytest.mark.slow
    def test_several_threads_may_close_it(self, tmp_path):
        library = open_library(build_plugin(tmp_path, FORWARD="sleeps", AT_DESTROY="usleep(1000)"))
        calling = threading.Thread(target=library.ops[0].forward, args=(X,))
        closing = [threading.Thread(target=library.close) for _ in range(8)]
        calling.start()
        wait_for_call(library)
        for thread in closing:
            thread.start()
        for thread in (calling, *closing):
            thread.join()
        assert library.closed
        assert not is_mapped("brainsmith-spoilt.so")

    def test_destroy_is_called_once(self, tmp_path, capfd):
        library = open_library(build_plugin(tmp_path, AT_DESTROY='fputs("swept\\n",stderr)'))
        assert capfd.readouterr().err == ""
        library.close()
        library.close()
        assert capfd.readouterr().err == "swept\n"

    @pytest.mark.slow
    def test_a_rebuilt_library_is_new_code_beside_the_old(self, tmp_path):
        """The file may even be overwritten in place: what is loaded is a copy."""
        path = build_plugin(tmp_path, FACTOR=3)
        old = open_library(path)
        build_plugin(tmp_path, name="new.so", FACTOR=4)
        with path.open("r+b") as file:
            file.write((tmp_path / "new.so").read_bytes())
        new = open_library(path)
        assert (old.ops[0].forward(X).tolist(), new.ops[0].forward(X).tolist()) == ([3, 6, 9], [4, 8, 12])
        old.close()
        assert new.ops[0].forward(X).tolist() == [4, 8, 12]
        again = open_library(path)
        new.close()
        assert again.ops[0].forward(X).tolist() == [4, 8, 12]
        again.close()
        assert not is_mapped("brainsmith-spoilt.so")

    @pytest.mark.slow
    def test_one_that_must_stay_mapped_is_never_taken_for_a_later_one(self, tmp_path):
        # It stays for as long as the process lives, so it has a name that no other test looks for.
        kept = open_library(build_plugin(tmp_path, "-Wl,-z,nodelete", name="stays.so", FACTOR=3))
        kept.close()
        assert is_mapped("brainsmith-stays.so")
        later = open_library(build_plugin(tmp_path, name="later.so", FACTOR=7))
        assert later.ops[0].forward(X).tolist() == [7, 14, 21]
        later.close()

    def test_each_step_is_logged(self, good, caplog):
        with caplog.at_level(logging.DEBUG, "brainsmith.plugin"):
            open_library(good).close()
        digest = hashlib.sha256(good.read_bytes()).hexdigest()
        assert [record.getMessage() for record in caplog.records] == [
            f"{good}: a library of this machine, sha256 {digest}",
            f"{good}: loaded and unloaded in a child process",
            f"{good}: plugin spoilt 1.2.3 with 2 operations",
            f"{good}: unmapped",
        ]


@pytest.mark.slow
def test_eight_threads_run_while_another_loads_and_unloads(good):
    """A call gives the right result or says that the op is gone, whatever happens meanwhile."""
    current, wrong, counts = [open_library(good)], [], [0] * 8
    stop = threading.Event()

    def run(number):
        x = np.full(1000, number + 1, np.float32)
        while not stop.is_set():
            try:
                y = current[0].ops[0].forward(x)
                counts[number] += 1
                if not (y == 2 * (number + 1)).all():
                    wrong.append(y)
            except OpError as error:
                if "was removed" not in str(error):
                    wrong.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        old, current[0] = current[0], open_library(good)
        old.close()
    stop.set()
    for thread in threads:
        thread.join()
    current[0].close()
    assert wrong == []
    assert min(counts) > 0
    assert not is_mapped("brainsmith-good.so")
