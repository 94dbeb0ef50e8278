"""A real YAML language server reads the schema that a blueprint's first line names, and says what editors show."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.blueprint.test_docs import BLUEPRINTS, ROOT

FOLDER = Path(__file__).parent / "language_server"
SERVER = FOLDER / "node_modules" / "yaml-language-server" / "bin" / "yaml-language-server"
SCHEMA = ROOT / "brainsmith" / "blueprint" / "blueprint.schema.json"
COMPLETION = 10
"""The kind of a completion that is a key."""


class Server:
    """A language server that runs as a process, spoken to as editors do."""

    def __init__(self):
        command = [shutil.which("node"), str(SERVER), "--stdio"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._number = 0
        capabilities = {"textDocument": {"publishDiagnostics": {}, "completion": {}, "hover": {}}}
        self.ask("initialize", processId=os.getpid(), rootUri=None, capabilities=capabilities)
        self.say("initialized")

    def close(self):
        self._process.kill()
        self._process.communicate()

    def say(self, method, **params):
        self._send({"method": method, "params": params})

    def ask(self, method, **params):
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        return next(
            found["result"]
            for found in self._received()
            if found.get("id") == self._number and "method" not in found
        )

    def diagnostics(self, path):
        """Open a file, and return what is wrong with it: line and column from 1, and the message."""
        uri, text = Path(path).as_uri(), Path(path).read_text()
        self.say(
            "textDocument/didOpen",
            textDocument={"uri": uri, "languageId": "yaml", "version": 1, "text": text},
        )
        for found in self._received():
            if found.get("method") == "textDocument/publishDiagnostics" and found["params"]["uri"] == uri:
                return [
                    (
                        each["range"]["start"]["line"] + 1,
                        each["range"]["start"]["character"] + 1,
                        each["message"],
                    )
                    for each in found["params"]["diagnostics"]
                ]
        raise EOFError

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _received(self):
        while line := self._process.stdout.readline():
            length = int(line.decode().partition(":")[2])
            while self._process.stdout.readline().strip():
                pass
            found = json.loads(self._process.stdout.read(length))
            if "id" in found and "method" in found:  # it asks for the editor's settings
                asked = found["params"].get("items", []) if isinstance(found["params"], dict) else []
                self._send({"id": found["id"], "result": [None for _ in asked]})
            yield found


@pytest.fixture(scope="module")
def server():
    if not SERVER.is_file():
        if os.environ.get("CI"):
            pytest.fail(f"npm ci in {FOLDER} installs the language server")
        pytest.skip(f"needs node, and npm ci in {FOLDER}")
    server = Server()
    yield server
    server.close()


def written(folder, text):
    path = folder / "x.yaml"
    path.write_text(f"# yaml-language-server: $schema={SCHEMA}\n{text}")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("path", BLUEPRINTS, ids=lambda path: path.name)
def test_nothing_is_wrong_with_the_blueprints_of_the_repository(server, path):
    assert server.diagnostics(path) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("hw_compiler:\n  colour: red\n", 3, "colour"),
        ("hw_compiler:\n  output: bitstream\n", 3, "simulated"),
        ("hw_compiler:\n  target:\n    fps: many\n", 4, "integer"),
        ("hw_compiler:\n  steps:\n    - {step: a, stepz: b}\n", 4, "stepz"),
        ("hw_compilers: {}\n", 2, "hw_compilers"),
    ],
)
def test_it_shows_what_is_wrong_where_it_is(server, tmp_path, text, line, word):
    found = server.diagnostics(written(tmp_path, text))
    assert found and found[0][0] == line and any(word in message for _, _, message in found), found


@pytest.mark.slow
def test_it_completes_keys_and_shows_what_they_mean(server, tmp_path):
    path = written(tmp_path, "hw_compiler:\n  target:\n    part: pynq-z2\n  \n")
    server.diagnostics(path)
    document = {"uri": path.as_uri()}
    found = server.ask("textDocument/completion", textDocument=document, position={"line": 4, "character": 2})
    names = {item["label"] for item in found["items"]}
    assert {"steps", "change_steps", "verify", "output"} <= names
    shown = server.ask("textDocument/hover", textDocument=document, position={"line": 3, "character": 5})
    assert "pynq" in json.dumps(shown)
