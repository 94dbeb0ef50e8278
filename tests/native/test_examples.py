"""The examples in C and in Rust are built, loaded, run, differentiated and unloaded; the C ones everywhere."""

import shutil

import numpy as np
import pytest

from brainsmith import ops
from brainsmith.errors import OpError
from brainsmith.native import include_folder, open_library
from brainsmith.native.function_call import RULES
from brainsmith.plugin.core import get_registry
from brainsmith.plugins import load_plugin, unload_plugin
from tests.native.building import ROOT, compile_c, expect_cargo, is_mapped, run_tool

C_FOLDER, RUST_FOLDER = ROOT / "examples" / "native_c", ROOT / "examples" / "native_rust"
X = np.array([-2, -1, 0, 1, 2], np.float32)


def tanh_gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


@pytest.fixture(scope="module")
def c_folder(tmp_path_factory):
    """The folder of the C example, built as its README says."""
    folder = tmp_path_factory.mktemp("examples") / "native_c"
    shutil.copytree(C_FOLDER, folder, ignore=shutil.ignore_patterns("*.so"))
    compile_c(
        folder / "c_plugin_example.c", folder / "libc_plugin_example.so", "-O3", "-Wall", "-Werror", "-lm"
    )
    return folder


@pytest.fixture(scope="module")
def rust_folder(tmp_path_factory):
    """The folder of the Rust example, built as its README says."""
    expect_cargo()
    folder = tmp_path_factory.mktemp("examples") / "native_rust"
    shutil.copytree(RUST_FOLDER, folder, ignore=shutil.ignore_patterns("target"))
    run_tool(
        ["cargo", "build", "--offline", "--release", "--quiet", "--target-dir", folder / "target"], folder
    )
    return folder


@pytest.fixture
def rust(rust_folder):
    bundle = load_plugin(rust_folder)
    yield bundle
    unload_plugin("rust_example_plugin")
    assert not is_mapped("rust_plugin_example")


@pytest.fixture
def c_plugin(c_folder):
    bundle = load_plugin(c_folder / "libc_plugin_example.so")
    yield bundle
    unload_plugin("c_example_plugin")
    assert not is_mapped("c_plugin_example")


def program_of(folder):
    return (folder / "README.md").read_text().split("```python\n")[1].split("```")[0]


class TestC:
    @pytest.mark.slow
    def test_values(self, c_plugin):
        assert str(c_plugin.info) == "c_example_plugin v1.0.0"
        for dtype, tolerance in ((np.float32, 2e-7), (np.float64, 1e-15)):
            x = X.astype(dtype)
            leaky = ops.execute_custom_op("c_leaky_relu", [x])
            soft = ops.execute_custom_op("c_softplus", [x])
            assert leaky.dtype == soft.dtype == dtype
            np.testing.assert_array_equal(leaky, np.where(x > 0, x, dtype(0.01) * x))
            np.testing.assert_allclose(soft, np.logaddexp(0, x.astype(np.float64)), rtol=tolerance)

    @pytest.mark.parametrize(("dtype", "least"), [(np.float32, -87), (np.float64, -708)])
    @pytest.mark.slow
    def test_softplus_is_within_four_units_in_the_last_place(self, c_plugin, dtype, least):
        x = np.concatenate([np.linspace(least, 100, 20_001), np.linspace(-3, 3, 20_001)]).astype(dtype)
        wide = x.astype(np.longdouble)
        exact = np.maximum(wide, 0) + np.log1p(np.exp(-np.abs(wide)))
        found = ops.execute_custom_op("c_softplus", [x])
        assert (np.abs(found - exact) / np.spacing(exact.astype(dtype))).max() <= 4

    def test_gradients(self, c_plugin):
        for name in ("c_leaky_relu", "c_softplus"):
            assert max(ops.gradcheck(name).worst.values()) < 1e-6

    @pytest.mark.parametrize(
        ("dtype", "far", "large"), [(np.float32, -104.5, 1e38), (np.float64, -746.5, 1e307)]
    )
    def test_far_to_the_left_softplus_and_its_gradient_are_zero(self, c_plugin, dtype, far, large):
        softplus = ops.get_custom_op("c_softplus")
        x = np.array([far, 2 * far, -1e30, -np.inf], dtype)
        y, up = softplus.forward(x), np.full(4, large, dtype)
        (down,) = softplus.backward(up, [x], y)
        assert y.tolist() == down.tolist() == [0] * 4
        (down,) = softplus.backward(np.full(4, np.nan, dtype), [x], y)
        assert np.isnan(down).all()

    def test_nan_and_infinity(self, c_plugin):
        x = np.array([np.nan, np.inf, -np.inf])
        np.testing.assert_array_equal(ops.execute_custom_op("c_leaky_relu", [x]), [np.nan, np.inf, -np.inf])
        np.testing.assert_array_equal(ops.execute_custom_op("c_softplus", [x]), [np.nan, np.inf, 0])

    def test_other_dtypes_are_refused(self, c_plugin):
        with pytest.raises(OpError) as caught:
            ops.execute_custom_op("c_softplus", [np.array([1, 2])])
        assert (
            str(caught.value)
            == "Operation 'c_softplus' does not take these inputs: it takes float32 or float64"
        )

    def test_the_program_of_the_readme(self, c_folder, monkeypatch, capsys):
        monkeypatch.chdir(c_folder)
        exec(program_of(C_FOLDER), {})
        assert capsys.readouterr().out == "[-0.01  2.  ]\n"

    @pytest.mark.slow
    def test_the_command_of_the_readme(self, tmp_path):
        """But for `python`, which may be called otherwise."""
        shutil.copy(C_FOLDER / "c_plugin_example.c", tmp_path)
        command = (C_FOLDER / "README.md").read_text().split("```sh\n")[1].split("```")[0]
        header = "$(python -c 'import brainsmith.native as native; print(native.include_folder())')"
        assert header in command
        run_tool(["sh", "-c", command.replace(header, include_folder())], tmp_path)
        open_library(tmp_path / "libc_plugin_example.so").close()


@pytest.mark.slow
class TestRust:
    def test_values(self, rust):
        assert str(rust.info) == "rust_example_plugin v1.0.0"
        assert ops.execute_custom_op("rust_abs", [X]).tolist() == [2, 1, 0, 1, 2]
        assert ops.execute_custom_op("rust_clamp", [X, [-1.0], [1.0]]).tolist() == [-1, -1, 0, 1, 1]
        assert ops.execute_custom_op("rust_clamp", [X, -1.0, 1.0]).tolist() == [-1, -1, 0, 1, 1]
        gelu = ops.execute_custom_op("rust_gelu", [X])
        assert [f"{value:.6f}" for value in gelu] == [
            "-0.045402",
            "-0.158808",
            "0.000000",
            "0.841192",
            "1.954598",
        ]

    def test_gelu_is_the_tanh_form_in_both_types(self, rust):
        x = np.linspace(-12, 12, 10_001)
        np.testing.assert_allclose(
            ops.execute_custom_op("rust_gelu", [x]), tanh_gelu(x), rtol=1e-13, atol=1e-15
        )
        narrow = x.astype(np.float32)
        found = ops.execute_custom_op("rust_gelu", [narrow])
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, tanh_gelu(narrow.astype(np.float64)), rtol=2e-6, atol=1e-7)

    def test_gradients(self, rust):
        for name in ("rust_abs", "rust_gelu"):
            assert max(ops.gradcheck(name).worst.values()) < 1e-6
        x = np.random.default_rng(0).normal(size=(4, 5)) * 2
        report = ops.gradcheck("rust_clamp", [x, np.array([-1.0]), np.array([1.5])])
        assert sorted(report.worst) == [0, 1, 2]
        assert max(report.worst.values()) < 1e-6

    def test_nan_and_infinity(self, rust):
        x = np.array([np.nan, np.inf, -np.inf], np.float32)
        np.testing.assert_array_equal(ops.execute_custom_op("rust_abs", [x]), [np.nan, np.inf, np.inf])
        np.testing.assert_array_equal(ops.execute_custom_op("rust_clamp", [x, -1, 1]), [np.nan, 1, -1])
        np.testing.assert_array_equal(ops.execute_custom_op("rust_gelu", [x]), [np.nan, np.inf, 0])

    @pytest.mark.parametrize(
        ("name", "inputs", "message"),
        [
            ("rust_abs", [np.array([1, 2])], "rust_abs takes float32 or float64, not int64 for input 0"),
            ("rust_clamp", [X, [-1, 0], [1]], "min must have one element, not shape [2]"),
            (
                "rust_clamp",
                [X, [-1], np.zeros((1, 0), np.float32)],
                "max must have one element, not shape [1, 0]",
            ),
            ("rust_clamp", [X, [3], [1]], "min must be at most max, not 3 with max 1"),
            ("rust_clamp", [X, [np.nan], [1]], "min must be at most max, not NaN with max 1"),
            (
                "rust_clamp",
                [X, np.float64([1]), [1]],
                "min and max must be float32 as x is, not float64 for input 1",
            ),
        ],
    )
    def test_what_is_refused(self, rust, name, inputs, message):
        with pytest.raises(OpError) as caught:
            ops.execute_custom_op(name, inputs)
        assert str(caught.value) == f"Operation {name!r} does not take these inputs: {message}"

    def test_each_op_has_all_of_the_interface(self, rust_folder):
        library = open_library(rust_folder / "target" / "release" / "librust_plugin_example.so")
        assert [(op.name, op.num_inputs, op.has_gradient) for op in library.ops] == [
            ("rust_abs", 1, True),
            ("rust_clamp", 3, True),
            ("rust_gelu", 1, True),
        ]
        for op in library.ops:
            assert all(op.table[name] for name in ("validate", *RULES, "forward", "backward"))
            n = op.num_inputs
            assert op.output_shape([(2, 3)] + [(1,)] * (n - 1)) == (2, 3)
            assert op.output_dtype([np.dtype(np.float64)] * n) == np.float64
            assert op.output_device(["cpu"] * n) == "cpu"
        library.close()

    def test_after_unloading_nothing_is_left(self, rust_folder):
        before = ops.list_custom_ops()
        load_plugin(rust_folder / "target" / "release" / "librust_plugin_example.so")
        assert sorted(set(ops.list_custom_ops()) - set(before)) == ["rust_abs", "rust_clamp", "rust_gelu"]
        assert is_mapped("rust_plugin_example")
        ops.execute_custom_op("rust_gelu", [X])
        unload_plugin("rust_example_plugin")
        assert ops.list_custom_ops() == before
        assert not is_mapped("rust_plugin_example")

    def test_a_panic_is_an_exception_and_leaves_nothing_mapped(self, rust_folder, tmp_path):
        """A plugin of the example's own parts, whose operation fails in every way."""
        parts = "".join(
            f'#[path = "{RUST_FOLDER}/src/{name}.rs"]\n#[allow(dead_code, unused_macros, unused_imports)]\nmod {name};\n'
            for name in ("abi", "operation", "plugin", "real")
        )
        source = tmp_path / "panics.rs"
        source.write_text(parts + PANICS)
        path = tmp_path / "libpanics.so"
        run_tool(["rustc", "--edition=2021", "--crate-type=cdylib", source, "-o", path])
        library = open_library(path)
        (op,) = library.ops
        bug = f"  this is a bug in native plugin panics 0.1.0 ({path})"
        for size, message in (
            (2, "Operation 'panics' failed on shapes (2,): 2 is an even number"),
            (
                3,
                "Operation 'panics' panicked on shapes (3,): "
                f"index out of bounds: the len is 3 but the index is 103\n{bug}",
            ),
        ):
            with pytest.raises(OpError) as caught:
                op.forward(np.zeros(size, np.float32))
            assert str(caught.value) == message
        library.close()
        assert not is_mapped("libpanics")

    def test_the_program_of_the_readme(self, rust_folder, monkeypatch, capsys):
        monkeypatch.chdir(rust_folder)
        exec(program_of(RUST_FOLDER), {})
        assert capsys.readouterr().out.splitlines()[1] == "[-1. -1.  0.  1.  1.]"

    @pytest.mark.slow
    def test_the_crates_own_tests(self, tmp_path):
        expect_cargo()
        printed = run_tool(["cargo", "test", "--offline", "--target-dir", tmp_path], RUST_FOLDER)
        assert "test result: ok. 19 passed; 0 failed; 0 ignored" in printed


def test_the_plugin_of_the_documentation(tmp_path, monkeypatch, capsys):
    page = (ROOT / "docs" / "native.md").read_text()
    _, source, command, program, described = (part.split("```")[0] for part in page.split("```")[1::2])
    (tmp_path / "my_plugin.c").write_text(source.removeprefix("c\n"))
    header = "$(python -c 'import brainsmith.native as native; print(native.include_folder())')"
    run_tool(["sh", "-c", command.removeprefix("sh\n").replace(header, include_folder())], tmp_path)
    monkeypatch.chdir(tmp_path)
    exec(program.removeprefix("python\n"), {})
    assert capsys.readouterr().out.startswith("[2. 4.]\ntwice: backward is the derivative of forward at ")
    (tmp_path / "plugin.json").write_text(described.removeprefix("json\n"))
    load_plugin(".")
    assert get_registry().resolve("op", "twice").license == "MIT"
    unload_plugin("my_plugin")


PANICS = """
use operation::{Error, Operation, Tensor, TensorMut};

struct Panics;

impl Operation for Panics {
    fn name(&self) -> &'static str { "panics" }
    fn description(&self) -> &'static str { "It fails" }
    fn num_inputs(&self) -> usize { 1 }
    fn validate_inputs(&self, _: &[Tensor]) -> Result<(), Error> { Ok(()) }
    fn forward(&self, inputs: &[Tensor], _: &mut TensorMut) -> Result<(), Error> {
        let x = inputs[0].values::<f32>();
        if x.len() % 2 == 0 {
            return Err(Error::Failed(format!("{} is an even number", x.len())));
        }
        Err(Error::Failed(x[x.len() + 100].to_string()))
    }
}

#[no_mangle]
pub unsafe extern "C" fn create_plugin(_: *const abi::BsHost) -> *const abi::BsPluginTable {
    plugin::silence_panics();
    let about = plugin::Description {
        name: "panics", version: "0.1.0", description: "", author: "", min_brainsmith: "0.1.0",
    };
    plugin::Plugin::new(&about, vec![Box::new(Panics)]).into_table()
}
"""
