"""`brainsmith serve-target`, as users run it: it says where, serves, and ends when it is told to."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from brainsmith.cli.main import main
from brainsmith.cli.serve_target import _leave, until_stopped
from brainsmith.cli.terminal import Terminal
from brainsmith.targets import ResourceManager
from tests.build import graphs
from tests.cli.command import COMMAND, ROOT
from tests.runtime.serving.served import CERTIFICATE, KEY, TOKEN


@pytest.mark.parametrize("end", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_it_serves_until_a_signal_comes(end, elsewhere, monkeypatch, capsys):
    monkeypatch.setenv("BRAINSMITH_REMOTE_TOKEN", TOKEN)
    command = [*COMMAND, "serve-target", "numpy", "--port", "0", "--limit-mb", "2", "--timeout", "20"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline()
        found = re.fullmatch(
            r"serving numpy at (http://127\.0\.0\.1:\d+), with the token of BRAINSMITH_REMOTE_TOKEN\n", line
        )
        assert found, line
        monkeypatch.setenv("BRAINSMITH_REMOTE_URL", found[1])
        model = graphs.quant_mlp()
        with ResourceManager({"device": "remote"}) as manager:
            y = manager.execute(manager.prepare_resource(model), graphs.samples(model))
            assert manager.active._served.megabytes == 2
        (elsewhere / "m.onnx").write_bytes(model.model.SerializeToString())
        np.save("x.npy", graphs.samples(model))
        assert main(["run", "m.onnx", "--target", "remote", "--input", "x.npy", "--output", "y.npy"]) == 0
        assert f"target    remote:0: numpy at {found[1]}, over HTTP\n" in capsys.readouterr().out
        np.testing.assert_array_equal(np.load("y.npy"), y["m1"])
        os.kill(process.pid, end)
        assert process.communicate(timeout=20) == ("stopped\n", "")
        assert process.returncode == 0


@pytest.mark.slow
def test_a_signal_that_another_thread_is_given_ends_it_too():
    def kill():
        time.sleep(0.1)  # until it is waited for
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    for _ in range(5):
        with until_stopped() as wait:
            thread = threading.Thread(target=kill)
            thread.start()
            wait()
            thread.join()
        assert signal.getsignal(signal.SIGTERM) is before


def test_at_every_address_it_says_how_others_find_it(monkeypatch):
    monkeypatch.setenv("BRAINSMITH_REMOTE_TOKEN", TOKEN)
    command = [*COMMAND, "serve-target", "numpy", "--port", "0", "--host", "0.0.0.0"]
    command += ["--certificate", CERTIFICATE, "--key", KEY]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        first, second = process.stdout.readline(), process.stdout.readline()
        os.kill(process.pid, signal.SIGTERM)
        assert process.communicate(timeout=20) == ("stopped\n", "")
    found = re.fullmatch(
        r"serving numpy at https://127\.0\.0\.1:(\d+), with the token of BRAINSMITH_REMOTE_TOKEN\n", first
    )
    assert found, first
    assert second == (
        f"  for other machines: https://{socket.gethostname()}:{found[1]}, or with an address of this machine for its "
        "name\n"
    )


def test_what_computes_still_does_not_keep_it(capsys, monkeypatch):
    monkeypatch.setattr(os, "_exit", lambda code: pytest.exit(f"with {code}"))
    with pytest.raises(pytest.exit.Exception, match=r"^with 0$"):
        _leave(Terminal())
    assert capsys.readouterr().out == "stopped; some requests were not finished\n"


ASKING = """
import sys
import numpy as np
from concurrent.futures import ThreadPoolExecutor
from brainsmith.targets import ResourceManager
from tests.build import graphs
model = graphs.quant_mlp()
x = np.zeros((100_000, 6), np.float32)
with ResourceManager({"device": "remote"}) as manager, ThreadPoolExecutor(4) as threads:
    prepared = manager.prepare_resource(model)
    for _ in range(4):
        threads.submit(manager.execute, prepared, x)
    print("asked", flush=True)
"""


@pytest.mark.slow
def test_requests_that_are_not_done_do_not_keep_it(monkeypatch):
    command = [*COMMAND, "serve-target", "reference", "--port", "0", "--timeout", "2"]
    for _ in range(2):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                monkeypatch.setenv("BRAINSMITH_REMOTE_URL", process.stdout.readline().split()[3].rstrip(","))
                client = [sys.executable, "-c", ASKING]
                asked = subprocess.run(client, cwd=ROOT, capture_output=True, text=True, timeout=60)
                assert (asked.returncode, asked.stdout, asked.stderr) == (0, "asked\n", "")
                begin = time.perf_counter()
                os.kill(process.pid, signal.SIGTERM)
                told = process.communicate(timeout=20)
            finally:  # whatever fails: a server that nobody stops would be waited for without end
                process.kill()
        assert told == ("stopped; some requests were not finished\n", "")
        assert process.returncode == 0
        assert time.perf_counter() - begin < 15


MISUSE = {
    "serve-target numpy --host 0.0.0.0": (
        "0.0.0.0 can be reached from other machines, so a token is needed: --token-file FILE, or "
        "BRAINSMITH_REMOTE_TOKEN"
    ),
    "serve-target numpy --token-file no": "the token file no cannot be read: No such file or directory",
    "serve-target numpy --key key.pem": ("the key key.pem needs its certificate: --certificate FILE"),
    "serve-target numpy --certificate no.pem": (
        "the certificate no.pem cannot be used: No such file or directory; both must be PEM files, the key of this "
        "certificate and without a password"
    ),
    "serve-target numpy --port http": "--port must be a whole number up to 65535, not 'http'",
    "serve-target numpy --port 99999": "--port must be a whole number up to 65535, not '99999'",
    "serve-target numpy --limit-mb much": "--limit-mb must be a number above 0, not 'much'",
    "serve-target numpy --timeout nan": "--timeout must be a number above 0, not 'nan'",
    "serve-target numpy --requests 0": "the limit of requests must be a number above 0, not 0",
    "serve-target numpy --build no": "--build must be a folder, not no",
    "serve-target numpy --build .": (
        "--build must be a folder that target 'numpy' executes, not .: . is a folder, and a model is an .onnx file"
    ),
    **{
        f"serve-target {device}": (
            f"serve-target takes the name of a target, such as numpy, not {device!r}; clients choose one of its devices, "
            "as in remote:1"
        )
        for device in ("auto", "auto:1", "cpu", "numpy:0", "rtlsim:1")
    },
    "serve-target remote": (
        "the target remote cannot be served: serve the target that it stands for, on its machine"
    ),
}


@pytest.mark.parametrize("line", MISUSE)
def test_misuse_says_what_to_do(capsys, line):
    before = signal.getsignal(signal.SIGINT)
    assert main(line.split()) == (1 if "--token-file" in line else 2)  # the token may be the setting's
    assert capsys.readouterr().err == f"error: {MISUSE[line]}\n"
    assert signal.getsignal(signal.SIGINT) is before
