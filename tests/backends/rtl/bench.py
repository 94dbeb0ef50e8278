"""Many layers side by side in one simulation: each is fed and emptied alone, without stalls and with random ones.

One build serves many cases, so a property is drawn as a list of cases. What is expected is the kernel's Python model.
"""

import os
import subprocess

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onnx import helper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.plugin.info import FINN_RTL as RTL
from brainsmith.rtl.cores import trial
from brainsmith.rtl.cores.checking import PART
from brainsmith.rtl.cores.estimated_backend import stated_resources
from brainsmith.rtl.cores.trial import Case, golden_tensors, make_model, random_values
from brainsmith.rtl.simulation.toolchain import find_toolchain
from brainsmith.rtl.synthesis.synthesise import synthesise_layers
from brainsmith.testing.backend_laws import check_cases

__all__ = [
    "RTL",
    "Case",
    "bare_layer",
    "check_cores",
    "golden_tensors",
    "law_of_cores",
    "lint",
    "make_design",
    "make_model",
    "random_values",
    "resources",
]


def make_design(cases, folder):
    """Return the model and the design of all cases."""
    return trial.make_design(cases, folder, PART)


def check_cores(cases, folder, count=4, seed=0):
    """Assert that each case computes what its kernel computes, whatever stalls, and at the estimated rate."""
    check_cases(cases, folder, count, seed, PART)


def law_of_cores(cases, draws, least, most):
    """Return a test that draws lists of cases, of a strategy, and simulates each list with `check_cores`.

    In part it tries one list, which is many cases; not Hypothesis' first one, the simplest case over and over.
    """

    @pytest.mark.compiles(tried=1)
    @settings(max_examples=draws, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(drawn=st.lists(cases, min_size=least, max_size=most), seed=st.integers(0, 1000))
    def law(tmp_path_factory, simulations, drawn, seed):
        assume(any(repr(case) != repr(drawn[0]) for case in drawn))
        check_cores(drawn, tmp_path_factory.mktemp("drawn"), seed=seed)

    return law


def bare_layer(case, outputs=1):
    """Return the layer of a case without a model around it, which a kernel need not take."""
    names = ["a", "b"][: len(case.inputs) + len(case.constants)], ["c", "d"][:outputs]
    node = helper.make_node(
        case.op_type, *names, domain=case.domain, backend="fpgadataflow", **case.attributes
    )
    return getCustomOp(node)


def lint(backend, parameters):
    """Return what Verilator's lint says of a core, with all warnings and none waived."""
    tools = find_toolchain()
    sized = {name: f"{-(-value.bit_length() // 32) * 32}'d{value}" if isinstance(value, int) and value >> 31 > 0 else value
             for name, value in parameters.items()}  # fmt: skip
    stated = [
        f'-G{name}="{sized[name]}"' if isinstance(value, str) else f"-G{name}={sized[name]}"
        for name, value in parameters.items()
    ]
    files = [str(file) for file in backend.core_files()]
    done = subprocess.run(
        [tools.verilator, "--lint-only", "-Wall", "--no-timing", "--top-module", backend.core, *stated, *files],
        capture_output=True, text=True, check=False, env={**os.environ, "VERILATOR_ROOT": tools.root},
    )  # fmt: skip
    lines = (done.stdout + done.stderr).splitlines()
    return "\n".join(line for line in lines if not line.startswith("- "))  # its own report of time and memory


def resources(cases, folder, part=PART):
    """Return what Yosys needs for each case, and what its backend says that it needs, by the names of the nodes."""
    model, design = trial.make_design(cases, folder, part)
    layers = synthesise_layers(design, part)
    stated = {node.name: stated_resources(getCustomOp(node), part) for node in model.graph.node}
    return {layer.name: (layer, stated[layer.name]) for layer in layers}
