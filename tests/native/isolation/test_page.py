"""The code of the page runs."""

import re

import numpy as np

from tests.native.building import ROOT, compile_c

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    compile_c(ROOT / "examples/native_c/c_plugin_example.c", tmp_path / "libc_plugin_example.so", "-lm")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec("\n".join(BLOCK.findall((ROOT / "docs/isolation.md").read_text())), names)
    x = np.linspace(-5, 5, 1000, dtype=np.float32)
    np.testing.assert_allclose(names["y"], np.tile(np.log1p(np.exp(x)), (1000, 1)), rtol=1e-5)
    assert names["z"].shape == (100, 1000)
