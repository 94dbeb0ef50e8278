import subprocess
import sys

import pytest

from brainsmith.blueprint.loader import load_blueprint
from brainsmith.errors import BlueprintError
from brainsmith.yaml_file import MAX_BYTES

TOO_DEEP = "nested more than 30 levels deep, perhaps through an alias (*name)"


def message(path):
    with pytest.raises(BlueprintError) as caught:
        load_blueprint(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "x.yaml:1:1: the file is empty; a blueprint is a mapping with the key hw_compiler"),
        ("# only this\n", "x.yaml:1:1: the file is empty; a blueprint is a mapping with the key hw_compiler"),
        (
            "a: [1, 2\n",
            "x.yaml:2:1: not valid YAML: expected ',' or ']', but got '<stream end>'",
        ),
        (
            "hw_compiler:\n\tkernels: []\n",
            "x.yaml:2:1: not valid YAML: found character '\\t' that cannot start any token; "
            "indent with spaces, not with tabs",
        ),
        (
            "a: b: c\n",
            "x.yaml:1:5: not valid YAML: mapping values are not allowed here; "
            "put a string that contains ': ' in quotes, and align the keys",
        ),
        (
            'a: "b\n',
            "x.yaml:2:1: not valid YAML: found unexpected end of stream; a quotation mark is not closed",
        ),
        (
            "a: *b\n",
            "x.yaml:1:4: not valid YAML: found undefined alias 'b'; put a string that begins with * in quotes",
        ),
        (
            "a: 1\n---\nb: 1\n",
            "x.yaml:2:1: not valid YAML: but found another document; a file holds one document; "
            "remove the line ---",
        ),
        (b"a: \xff\n", "x.yaml:1:4: not UTF-8 text: byte 0xff"),
        (b"a: 1\nbb\x00\n", "x.yaml:2:3: not a text file: it has control character #x00"),
        ("[" * 1000, "x.yaml: nested more than 30 levels deep"),
        ("[" * 40 + "]" * 40, f"x.yaml:1:31: {TOO_DEEP}"),
        ("&a [*a]\n", f"x.yaml:1:1: {TOO_DEEP}"),
    ],
)
def test_what_is_no_yaml_is_said_with_its_place(files, text, expected):
    assert files.errors(text) == [expected]


def test_a_chain_of_aliases_cannot_multiply_without_end(files):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    (error,) = files.errors("\n".join(lines))
    assert error.endswith(": more than 20000 values, perhaps through an alias (*name)")


def test_a_byte_order_mark_and_windows_line_ends_are_read(files):
    blueprint = files.load(b"\xef\xbb\xbfhw_compiler:\r\n  transforms: [A]\r\n")
    assert [entry.name.name for entry in blueprint.transforms] == ["A"]
    assert str(blueprint.transforms[0].position).endswith("x.yaml:2:16")


def test_a_folder_is_no_blueprint(tmp_path):
    assert message(tmp_path) == f"{tmp_path}: this is a folder; a blueprint is a YAML file"


def test_a_missing_file_is_said_and_a_close_one_suggested(files):
    path = files.write("hw_compiler: {}", "digits.yaml")
    wrong = path.replace("digits", "digit")
    assert message(wrong) == f"{wrong}: there is no such file. Did you mean 'digits.yaml'?"
    nowhere = path.replace("digits.yaml", "none/x.yaml")
    assert message(nowhere) == f"{nowhere}: there is no such file."


def test_a_large_file_is_not_read(files):
    path = files.write(b"#" * (MAX_BYTES + 1))
    assert message(path) == f"{path}: not a blueprint: it has 1000001 bytes, more than 1000000"


def test_a_name_with_a_null_byte_is_an_error_and_no_crash():
    assert message("a\0b").startswith("a\0b: ")


def test_yaml_is_imported_only_when_a_file_is_parsed(tmp_path):
    code = (
        "import sys\n"
        "import brainsmith.blueprint.loader, brainsmith.blueprint.resolve, brainsmith.blueprint.selection\n"
        "heavy = {'yaml', 'difflib', 'qonnx', 'finn', 'onnx', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
