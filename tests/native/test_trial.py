"""The trial of a library in a child process: crashes, endless loops and interrupts."""

import os
import signal
import subprocess
import threading
import time

import pytest

from brainsmith.errors import (
    PluginCrashError,
)
from tests.native.building import build_plugin
from tests.native.opening import refused


class TestCrashes:
    """What ends the child process that tries a library does no harm to this one."""

    @pytest.mark.parametrize(
        ("parts", "what"),
        [
            ({"AT_LOAD": "raise(SIGSEGV)"}, "crashed with SIGSEGV when it was loaded"),
            ({"AT_CREATE": "abort()"}, "crashed with SIGABRT in create_plugin"),
            ({"AT_CREATE": "*(volatile/**/int*)8=1"}, "crashed with SIGSEGV in create_plugin"),
            ({"AT_CREATE": "_exit(3)"}, "ended its process with exit code 3 in create_plugin"),
            ({"TABLE": "(void*)8"}, "crashed with SIGSEGV when its table was read"),
            ({"NAME": "(char*)8"}, "crashed with SIGSEGV when its table was read"),
            ({"AT_DESTROY": "raise(SIGILL)"}, "crashed with SIGILL when it was unloaded"),
        ],
    )
    def test_a_crash_is_an_error_that_says_where(self, tmp_path, parts, what):
        path = build_plugin(tmp_path, **parts)
        assert refused(path, PluginCrashError) == (
            f"native plugin {path} {what}; that was in a child process, and it was not loaded here"
        )

    def test_what_it_printed_is_quoted(self, tmp_path):
        path = build_plugin(
            tmp_path, AT_CREATE='fputs("no_licence",stderr),puts("bye"),fflush(stdout),abort()'
        )
        assert refused(path, PluginCrashError) == (
            f"native plugin {path} crashed with SIGABRT in create_plugin; "
            "that was in a child process, and it was not loaded here\n  it printed: no_licencebye"
        )

    @pytest.mark.slow
    def test_an_endless_loop_ends_with_the_time_limit(self, tmp_path):
        path = build_plugin(tmp_path, AT_CREATE="for(volatile/**/int/**/i=0;;)i++")
        for limit in (0.5, 3, 20):  # a busy machine takes its time to come to create_plugin
            found = refused(path, PluginCrashError, time_limit=limit)
            if "create_plugin" in found:
                break
        assert found == (
            f"native plugin {path} did not end within {limit} seconds in create_plugin; "
            "that was in a child process, and it was not loaded here"
        )

    @pytest.mark.parametrize("delay", [0, 0.1])
    @pytest.mark.slow
    def test_an_interrupted_trial_ends_its_process(self, tmp_path, monkeypatch, delay):
        path = build_plugin(tmp_path, AT_CREATE="for(volatile/**/int/**/i=0;;)i++")
        started, began = [], threading.Event()

        class Seen(subprocess.Popen):
            def __init__(self, *args, **options):
                super().__init__(*args, **options)
                started.append(self)
                began.set()

        def interrupt(number, frame):
            raise KeyboardInterrupt

        def interrupt_when_it_runs():
            began.wait(30)
            time.sleep(delay)
            os.kill(os.getpid(), signal.SIGALRM)

        monkeypatch.setattr(subprocess, "Popen", Seen)
        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            thread = threading.Thread(target=interrupt_when_it_runs)
            thread.start()
            refused(path, KeyboardInterrupt, time_limit=30)
            thread.join()
        finally:
            signal.signal(signal.SIGALRM, before)
        assert [process.returncode for process in started] == [-9]
