"""The libraries of the extra [serve]: needed by nobody who serves nothing, and missed with one message."""

import sys

import pytest

from brainsmith.cli.main import main
from brainsmith.errors import TargetUnavailableError
from brainsmith.targets import ResourceManager, list_plugins
from tests.plugin.installed import run_python

NOT_INSTALLED = "the extra [serve] is not installed (httpx missing): pip install 'brainsmith[serve]'"


@pytest.fixture
def without(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    monkeypatch.setenv("BRAINSMITH_REMOTE_URL", "http://127.0.0.1:9")


def test_a_server_says_what_to_install(without, capsys):
    assert main(["serve-target", "numpy"]) == 1
    assert capsys.readouterr() == ("", f"error: no target can be served: {NOT_INSTALLED}\n")


def test_a_client_says_what_to_install(without):
    (info,) = [info for info in list_plugins(available_only=False) if info.name == "remote"]
    assert (info.available, info.reason) == (False, NOT_INSTALLED)
    with pytest.raises(TargetUnavailableError) as error, ResourceManager({"device": "remote"}):
        pass
    assert str(error.value) == f"target 'remote' cannot be used here: {NOT_INSTALLED}"


@pytest.mark.slow
def test_it_is_imported_only_where_something_is_served():
    found = run_python(
        "import json, sys\n"
        "from brainsmith.targets import ResourceManager, list_plugins\n"
        "assert 'remote' in [info.name for info in list_plugins(available_only=False)]\n"
        "with ResourceManager({'device': 'numpy'}): pass\n"
        "libraries = ('starlette', 'uvicorn', 'httpx', 'httpcore', 'h11', 'anyio', 'safetensors', 'ssl')\n"
        "print(json.dumps([name for name in libraries if name in sys.modules]))\n"
    )
    assert found == []
