"""How near the compiled functions are to numpy's: every 97th float32 there is, and float64 drawn."""

import re
import shutil
import subprocess

import numpy as np
import pytest

from brainsmith.autodiff.compiling import kernel_cache
from brainsmith.autodiff.compiling.compiled import CompiledExpression
from brainsmith.autodiff.compiling.functions import FUNCTIONS
from brainsmith.autodiff.compiling.kernel import Kernel
from brainsmith.autodiff.compiling.source import write_source

UNARY = [name for name, one in FUNCTIONS.items() if one.arity == 1 and any(one.ulps)] + ["erf", "sqrt"]
VECTORISED = ["exp", "exp2", "expm1", "log", "log1p", "tanh", "erf", "sqrt", "floor", "rint", "sign", "isnan"]
REDUCED = ["sum", "mean", "max", "min", "prod"]


def in_order(values):
    """Return integers that count the floating-point numbers from 0 up and down."""
    kind, sign = (np.int32, 2**31 - 1) if values.dtype == np.float32 else (np.int64, 2**63 - 1)
    whole = values.view(kind).astype(np.int64)
    return np.where(whole < 0, -(whole & sign), whole)


def ulps_apart(name, x):
    function = CompiledExpression(f"inputs = 1; t0 = {name}(x0); return t0")
    with np.errstate(all="ignore"):
        wanted = FUNCTIONS[name].numpy_form(x)
    found = function(x)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    return int(np.abs(np.where(np.isnan(wanted), 0, in_order(found) - in_order(wanted))).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", UNARY)
def test_over_all_float32(name):
    step, parts = (97, 12) if name != "erf" else (97 * 16, 1)
    worst = 0
    for part in range(parts):
        bits = np.arange(part * step, 2**32, parts * step, dtype=np.uint64).astype(np.uint32)
        worst = max(worst, ulps_apart(name, bits.view(np.float32)))
    assert worst <= FUNCTIONS[name].ulps[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.slow
def test_tanh_is_never_beyond_one_and_is_one_far_out(dtype):
    tanh = CompiledExpression("inputs = 1; t0 = tanh(x0); return t0")
    rest = CompiledExpression(
        "inputs = 1; t0 = tanh(x0); t1 = multiply(t0, t0); t2 = subtract(1.0, t1); t3 = sqrt(t2); return t3"
    )
    near = np.linspace(7, 10, 300_001, dtype=dtype)
    assert np.abs(tanh(np.concatenate([near, -near]))).max() <= 1
    assert not np.isnan(rest(np.concatenate([near, -near, [np.inf, -np.inf]]).astype(dtype))).any()
    far = np.array([20, 1e3, np.finfo(dtype).max, np.inf], dtype)
    assert tanh(np.concatenate([far, -far])).tolist() == [1.0] * 4 + [-1.0] * 4


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, pytest.param(np.float64, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["erf", "sin", "cos"])
def test_other_bounded_functions_are_never_beyond_one(name, dtype):
    function = CompiledExpression(f"inputs = 1; t0 = {name}(x0); return t0")
    quarters = (np.arange(-400, 401) * (np.pi / 2)).astype(dtype)
    x = np.concatenate([np.linspace(-8, 8, 100_001, dtype=dtype), quarters, np.nextafter(quarters, dtype(9))])
    assert np.abs(function(x)).max() <= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", UNARY)
def test_over_float64(name):
    random = np.random.default_rng(1)
    usual = random.normal(size=100_000) * 10 ** random.uniform(-8, 3, 100_000)
    x = np.concatenate([usual, random.integers(0, 2**63, 50_000).view(np.float64)])
    assert ulps_apart(name, x) <= FUNCTIONS[name].ulps[1]


@pytest.mark.slow
def test_power_over_drawn_pairs():
    random = np.random.default_rng(2)
    function = CompiledExpression("inputs = 2; t0 = power(x0, x1); return t0")
    for dtype, most in zip(("f4", "f8"), FUNCTIONS["power"].ulps, strict=True):
        x, y = np.exp(random.normal(0, 4, 10**6)).astype(dtype), random.normal(0, 4, 10**6).astype(dtype)
        with np.errstate(all="ignore"):
            wanted = np.power(x, y)
        assert int(np.abs(in_order(function(x, y)) - in_order(wanted)).max()) <= most


@pytest.mark.slow
@pytest.mark.parametrize("name", [*VECTORISED, *REDUCED])
def test_the_compiler_makes_vectors_of_it(name, tmp_path):
    options, store = (", axis=-1", "r") if name in REDUCED else ("", "c")
    expression = CompiledExpression(f"inputs = 1; t0 = {name}(x0{options}); return t0").expression
    (tmp_path / "unit.cpp").write_text(write_source(Kernel(expression, (np.dtype("f4"),), "c", store)))
    command = [
        shutil.which("g++"),
        *kernel_cache.FLAGS,
        *kernel_cache.NATIVE,
        "-fopt-info-vec",
        "unit.cpp",
        "-o",
        "op.so",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert re.search(r"loop vectorized using \d+ byte vectors", done.stdout + done.stderr)
