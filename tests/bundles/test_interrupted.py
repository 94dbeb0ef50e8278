"""Loading, reloading and unloading that is interrupted or cannot end: nothing is stuck or closed too soon."""

import signal
import threading
import time

import numpy as np
import pytest

from brainsmith import ops
from brainsmith import plugins as door
from brainsmith.bundles.bundle_registry import BUNDLES
from brainsmith.errors import BundleClashError, BundleError, NativeLibraryError, PluginNotFoundError
from tests.bundles.making import source
from tests.native.building import build_plugin, is_mapped

LATE = (
    "did not end within 0.05 seconds\n"
    "  the plugins of 'spoilt v1.2.3' are removed; unload it again to close its library"
)


@pytest.fixture
def interrupt_soon():
    """Have the keyboard interrupt this thread a little later."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield lambda: signal.setitimer(signal.ITIMER_REAL, 0.15)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def under_way(tmp_path):
    """A loaded library, and a thread that is in it for 0.4 seconds from when it is started."""
    bundle = door.load_plugin(build_plugin(tmp_path, FORWARD="sleeps"))
    op = ops.get_custom_op("times")
    thread = threading.Thread(target=lambda: op.forward(np.float32([3])))

    def start():
        thread.start()
        time.sleep(0.02)
        return thread

    yield bundle, start
    if thread.ident:
        thread.join()
    for name in door.list_plugins().names():
        door.unload_plugin(name)
    bundle.library.close()
    assert not is_mapped("spoilt.so")


def test_an_interrupted_unload_is_ended_by_a_second_one(under_way, interrupt_soon):
    bundle, start = under_way
    thread = start()
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        door.unload_plugin("spoilt")
    assert not ops.is_custom_op_registered("times")
    assert door.is_plugin_loaded("spoilt") and door.list_plugins().names() == ["spoilt"]
    with pytest.raises(BundleClashError) as caught:
        door.load_plugin(bundle.library.path)
    assert str(caught.value) == (
        "bundle 'spoilt v1.2.3' cannot be registered: the library of 'spoilt v1.2.3' is not unloaded yet; "
        "unload it again first"
    )
    close, bundle.library.close = bundle.library.close, lambda: close(0.05)
    with pytest.raises(NativeLibraryError) as late:
        door.unload_plugin("spoilt")
    assert str(late.value).endswith(LATE)
    del bundle.library.close
    thread.join()
    door.unload_plugin("spoilt")
    assert not is_mapped("spoilt.so")
    with pytest.raises(PluginNotFoundError):
        door.unload_plugin("spoilt")


@pytest.mark.slow
def test_an_unload_that_takes_too_long_is_ended_by_a_second_one(under_way):
    bundle, start = under_way
    thread = start()
    close = bundle.library.close
    bundle.library.close = lambda: close(0.05)
    with pytest.raises(NativeLibraryError) as caught:
        door.unload_plugin("spoilt")
    assert str(caught.value).endswith(LATE)
    thread.join()
    del bundle.library.close
    door.unload_plugin("spoilt")
    assert not door.is_plugin_loaded("spoilt")


@pytest.mark.slow
def test_a_reload_that_is_interrupted_after_the_swap_has_the_new_version(under_way, tmp_path):
    bundle, _ = under_way
    bundle.library.close = lambda: signal.raise_signal(signal.SIGINT)
    build_plugin(tmp_path, FACTOR=5)
    with pytest.raises(KeyboardInterrupt):
        door.reload_plugin("spoilt")
    del bundle.library.close
    assert door.is_plugin_loaded("spoilt")
    assert ops.execute_custom_op("times", [np.float32([3])])[0] == 15


def test_a_replaced_library_that_cannot_be_closed_is_told_of(under_way, tmp_path):
    bundle, start = under_way
    close = bundle.library.close
    bundle.library.close = lambda: start() and close(0.01)
    build_plugin(tmp_path, FACTOR=5)
    with pytest.raises(BundleError) as caught:
        door.reload_plugin("spoilt")
    del bundle.library.close
    assert str(caught.value) == (
        "bundle 'spoilt v1.2.3' is loaded, but the library of 'spoilt v1.2.3', whose place it has taken, will be "
        "unloaded only when its calls have ended: native plugin 'spoilt' cannot be unloaded: 1 of its calls did not "
        "end within 0.01 seconds"
    )
    assert ops.execute_custom_op("times", [np.float32([3])])[0] == 15


def test_an_interrupted_restore_leaves_the_name_free(write):
    interrupting = (
        "bundle.set_initialize_fn(lambda r: calls.append(1) or len(calls) > 1 and signal.raise_signal(2))"
    )
    door.load_plugin(
        write(source(more=f"import signal\n{interrupting}\nbundle.set_cleanup_fn(lambda r: None)"))
    )
    write(source(more="bundle.set_initialize_fn(lambda registry: 1 / 0)"))
    with pytest.raises(KeyboardInterrupt):
        door.reload_plugin("acme")
    assert not door.is_plugin_loaded("acme")
    door.load_plugin(write(source()))
    door.unload_plugin("acme")
    assert BUNDLES._entries == {}
