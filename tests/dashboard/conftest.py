"""A folder with builds: a good one, a failed one, one whose report is damaged."""

import copy
import json

import pytest

from tests.web.conftest import report  # noqa: F401  (a fixture)

PAGE = '<!doctype html><link rel="icon" href="data:,"><title>the report</title>'


def put(folder, stated, page=PAGE):
    """Put what a build leaves that the dashboard looks at."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps(stated))
    (folder / "report.html").write_text(page)
    (folder / "build.log").write_text("all of it\n")
    return folder


@pytest.fixture
def tree(report, tmp_path):  # noqa: F811
    """The folder."""
    root = tmp_path / "out"
    report["files"] = ["model.onnx", "build.log", "report.json"]
    put(root / "good", report)
    (root / "good" / "model.onnx").write_bytes(b"\x08\x07")
    (root / "good" / "notes.txt").write_text("private")
    other = copy.deepcopy(report)
    other["estimate"]["lut"] = 3690
    other["accuracy"]["after"] = 0.975
    other["steps"] = other["steps"][:2]
    other["layers"] = other["layers"][1:]
    put(root / "deep" / "er" / "other", other)
    put(root / "bad" / "failed", {**report, "error": {"step": "fold", "message": "it cannot be folded"}})
    (root / "broken").mkdir()
    (root / "broken" / "report.json").write_text("{")
    (root / "someone").mkdir()
    (root / "someone" / "report.json").write_text('{"schema": "else/1"}')
    return root
