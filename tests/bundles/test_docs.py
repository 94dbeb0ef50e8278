"""The page about bundles is true: its blocks run, in order, in a project that holds the files that it shows."""

import json

from brainsmith.plugin.adapters.plugin_json_keys import KEYS
from tests.bundles.making import source
from tests.native.building import compile_c
from tests.test_docs import ROOT, blocks, project, run

__all__ = ["project"]

PAGE = "docs/bundles.md"


def test_the_code_of_the_page_runs(project):
    import sys

    folder = project / "plugins" / "acme"
    folder.mkdir(parents=True)
    program = []
    for block in blocks(PAGE, "python"):
        if block.startswith("# plugins/acme/acme.py"):
            (folder / "acme.py").write_text(block)
        else:
            program.append(block)
    (folder / "plugin.json").write_text(blocks(PAGE, "json")[0])
    base = project / "plugins" / "base"
    base.mkdir()
    (base / "base.py").write_text(source("base"))
    values = {"name": "base", "version": "1.0.0", "min_brainsmith_version": "0.1.0", "module": "base.py"}
    (base / "plugin.json").write_text(json.dumps(values))
    native = project / "examples" / "native_c"
    compile_c(native / "c_plugin_example.c", native / "libc_plugin_example.so")
    program.append(
        "print(list_plugins().names(), ops.is_custom_op_registered('c_leaky_relu'), Version.current())"
    )
    assert run([sys.executable, "-c", "\n".join(program)], project) == "['base'] False 0.1.0\n"


def test_every_key_of_plugin_json_is_documented():
    page = (ROOT / PAGE).read_text()
    assert [key for key in KEYS if f"`{key}`" not in page] == []
