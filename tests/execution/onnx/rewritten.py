"""Rewritten models run as one session with all runs at once, and what QONNX's own execution gives run by run."""

import warnings

import numpy as np

from brainsmith.execution.onnx.rewrite import rewrite
from brainsmith.execution.onnx.sessions import StandardSession
from tests.execution.program.single_node import run_reference

STANDARD = {"", "ai.onnx"}


def run_rewritten(model, stacks, keep=()):
    """Run stacks (runs, *shape) through a rewritten model; return stacks."""
    standard = rewrite(model)
    session = StandardSession(standard, threads=1)
    runs = len(next(iter(stacks.values())))
    joined = {name: stack.reshape(-1, *stack.shape[2:]) for name, stack in stacks.items()}
    arrays, counted = standard.signature.checked(joined)
    assert counted == runs
    found = session.run(arrays, runs, keep)
    shapes = {spec.name: spec.shape for spec in (*standard.tensors, *standard.signature.outputs)}
    return {name: array.reshape(runs, *shapes[name]) for name, array in found.items()}


def reference(model, stacks):
    """Run QONNX's own execution, run by run."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return run_reference(model, stacks)


def assert_rewritten_right(model, relative=0.0, mixed=False, **stacks):
    """Assert that a rewritten model gives what QONNX gives, for all runs at once unless they are mixed."""
    assert bool(rewrite(model).mixed) == mixed
    given, wanted = run_rewritten(model, stacks), reference(model, stacks)
    assert list(given) == list(wanted)
    for name, array in wanted.items():
        assert given[name].shape == array.shape
        if relative:
            largest = max(float(np.abs(array).max()), 1e-30)
            np.testing.assert_allclose(given[name], array, rtol=relative, atol=relative * largest)
        else:
            np.testing.assert_array_equal(given[name], array)
    return given
