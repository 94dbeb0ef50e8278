"""What is written is Python that means what was said, and nothing is written where it would not be."""

import ast
import re

import pytest

from brainsmith.plugin.manager import get_plugin_manager, reset_plugin_system
from tests.rtl.importing.test_import import COMPLETE, SOURCE, bring, folder, said  # noqa: F401

GOLDEN = "def scale(x, BY):\n    return BY * x\n"


@pytest.fixture(autouse=True)
def fresh():
    reset_plugin_system()
    yield
    reset_plugin_system()


def written(folder):  # noqa: F811
    return sorted(path.name for path in folder.rglob("*") if "plugins" in path.parts or "tests" in path.parts)


def refused(folder, capsys, *words):  # noqa: F811
    assert bring(*words) == 1
    assert written(folder) == []
    return said(capsys)


@pytest.mark.parametrize("name", ["Crop", "LabelSelect"])
def test_a_name_that_a_plugin_has_is_refused_with_who_has_it(folder, capsys, name):  # noqa: F811
    first, *rivals, last = refused(folder, capsys, *COMPLETE, "--name", name).splitlines()
    assert first == (
        f"error: the kernel cannot be called {name!r}: its names ({name}, {name}Kernel, {name}RTL) are taken:"
    )
    owner = {"Crop": "brainsmith:Crop", "LabelSelect": "brainsmith:LabelSelectRTL"}[name]
    assert any(re.match(rf"  (kernel|backend) {owner} at .*\.py:\d+$", line) for line in rivals)
    assert last == "  give it another name with --name"


def test_a_type_of_node_that_a_plugin_has_is_refused(folder, capsys):  # noqa: F811
    (folder / "plugins").mkdir()
    mine = folder / "plugins" / "mine.py"
    mine.write_text(
        "from finn.custom_op.fpgadataflow.hwcustomop import HWCustomOp\nfrom brainsmith.plugin.core import kernel\n"
        '@kernel(name="Mine", domain="brainsmith.kernels")\nclass ScaleKernel(HWCustomOp):\n    """Mine."""\n'
    )
    assert bring(*COMPLETE) == 1
    assert said(capsys) == (
        "error: the kernel cannot be called 'Scale': its names (Scale, ScaleKernel, ScaleRTL) are taken:\n"
        f"  kernel project:Mine at {mine}:3\n  give it another name with --name\n"
    )
    assert written(folder) == ["mine.py", "plugins"]


def test_the_same_import_again_is_no_clash(folder, capsys):  # noqa: F811
    assert bring(*COMPLETE) == 0
    reset_plugin_system()
    assert bring(*COMPLETE) == 0
    assert [info.name for info in get_plugin_manager().registry.records("kernel", "project")] == ["Scale"]


def test_two_sources_of_one_file_name(folder, capsys):  # noqa: F811
    (folder / "a").mkdir()
    (folder / "a" / "scale.sv").write_text("module other; endmodule\n")
    assert refused(folder, capsys, *COMPLETE, "--files", "a/scale.sv") == (
        "error: scale.sv and a/scale.sv would both be written to plugins/scale.sv: give one of them another file name\n"
    )


def test_a_source_that_is_called_as_a_generated_file(folder, capsys):  # noqa: F811
    (folder / "scale_rtl.py").write_text("module other; endmodule\n")
    assert refused(folder, capsys, *COMPLETE, "--files", "scale_rtl.py") == (
        "error: the backend and scale_rtl.py would both be written to plugins/scale_rtl.py: "
        "give one of them another file name\n"
    )


@pytest.mark.parametrize(
    "function",
    [
        "StreamKernel",
        "__scale",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("kernel", "StreamType", "golden_function")),
    ],
)
def test_a_golden_function_of_any_name(folder, capsys, function):  # noqa: F811
    (folder / "golden.py").write_text(GOLDEN.replace("scale", function))
    assert bring(*COMPLETE, "--golden", f"golden.py:{function}") == 0
    cls = get_plugin_manager().registry.resolve("kernel", "Scale").load()
    assert cls.golden(3, BY=5) == 15
    assert cls.golden.__name__ == function


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("two\nlines", "two lines", marks=pytest.mark.slow),
        pytest.param('"quoted"', '"quoted"', marks=pytest.mark.slow),
        ('it ends with """', 'it ends with """'),
        ("a back\\slash \\", "a back\\slash \\"),
        pytest.param("scaling, grün", "scaling, grün", marks=pytest.mark.slow),
    ],
)
def test_a_description_of_any_text(folder, capsys, text, kept):  # noqa: F811
    import yaml

    (folder / "d.yaml").write_text(yaml.safe_dump({"description": text}))
    assert bring(*COMPLETE, "--description", "d.yaml") == 0
    info = get_plugin_manager().registry.resolve("kernel", "Scale")
    assert info.description == kept
    source = (folder / "plugins" / "scale.py").read_text()
    (cls,) = (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    assert ast.get_docstring(cls) == f"{kept}."


@pytest.mark.parametrize(
    ("line", "name"),
    [("from .util import f", ".util"), ("import util", "util"), ("from util.x import f", "util.x")],
)
def test_a_golden_file_that_needs_its_neighbour(folder, capsys, line, name):  # noqa: F811
    (folder / "util.py").write_text("")
    (folder / "golden.py").write_text(f"import numpy\n\n{GOLDEN}    {line}\n")
    assert refused(folder, capsys, *COMPLETE) == (
        f"error: golden.py:5: it imports {name!r}, which lies beside it and is not copied\n"
        "  put all that the golden function needs in its one file\n"
    )


def test_a_golden_file_that_is_no_python_when_compiled(folder, capsys):  # noqa: F811
    (folder / "golden.py").write_text(GOLDEN + "return 3\n")
    assert refused(folder, capsys, *COMPLETE) == (
        "error: plugins/scale_golden.py:3: the file would not be valid Python: "
        "'return' outside function (scale_golden.py, line 3)\n"
    )


def test_a_source_that_is_no_utf_8(folder, capsys):  # noqa: F811
    (folder / "scale.sv").write_bytes(b"// \xfc\n" + SOURCE.encode())
    assert refused(folder, capsys, *COMPLETE) == (
        f"error: {folder / 'scale.sv'}: is not UTF-8 text: invalid start byte at byte 3\n  save it as UTF-8\n"
    )


def test_a_folder_in_the_way(folder, capsys):  # noqa: F811
    (folder / "plugins" / "scale.py").mkdir(parents=True)
    assert bring(*COMPLETE) == 1
    assert said(capsys).startswith("error: plugins/scale.py: this file exists with other content")
    assert written(folder) == ["plugins", "scale.py"]
