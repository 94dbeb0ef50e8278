"""What the tests of the site share: its tools, which are in no package, and the site of this checkout."""

import importlib.util
import sys
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from threading import Thread

import pytest

from tests.test_docs import ROOT


@pytest.fixture(scope="session")
def tool():
    """Import a tool by its name, as its neighbours do."""
    folder = str(ROOT / "tools" / "site")
    sys.path.insert(0, folder)
    yield import_module
    sys.path.remove(folder)


@pytest.fixture(scope="session")
def built(tool, tmp_path_factory):
    """The site of this checkout."""
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("needs the packages of the site, which `make docs` installs")
    folder = tmp_path_factory.mktemp("site")
    assert tool("make_site").main(["--output", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def pages(built):
    """The pages of the newest version."""
    return built / "latest"


@contextmanager
def server_of(site):
    """Serve a folder; gives the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def served(built):
    """The address of a server of the site."""
    with server_of(built) as address:
        yield address


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *words):
        """Print nothing."""
