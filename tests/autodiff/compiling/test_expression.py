"""The text form of expressions; that drawn ones come back is in `test_compiled.py`."""

import math

import numpy as np
import pytest

from brainsmith.autodiff.compiling.expression import Expression
from brainsmith.autodiff.compiling.numpy_form import compute
from brainsmith.errors import OpError


def test_constants_keep_their_value_and_their_dtype():
    text = (
        "inputs = 1; t0 = where(True, x0, inf); t1 = add(t0, -0.0); t2 = add(t1, float32(0.10000000149011612)); "
        "t3 = add(t2, int64(-3)); t4 = add(t3, nan); return t4, -inf"
    )
    expression = Expression.from_text(text)
    assert expression.text == text
    total, least = compute(expression, [np.ones(2, np.float32)])
    assert (total.dtype, least) == (np.float64, -math.inf)


TEXTS = {
    "add(": "inputs = <number>; <steps>; return <values>",
    "t0 = exp(x0); return t0": "'inputs = <number>' at first",
    "inputs = 1; t1 = exp(x0); return t1": "'t0 = ...' as step 0",
    "inputs = 1; t0 = system(x0); return t0": "a call of a known function as step 0",
    "inputs = 1; t0 = exp(x1); return t0": "an input, an earlier step or a number, not 'x1'",
    "inputs = 1; t0 = exp('x'); return t0": "a number, not \"'x'\"",
    "inputs = 1; t0 = sum(x0, axis=x); return t0": "plain values as options of step 0",
    "inputs = 1; t0 = exp(x0)": "'return <values>' at the end",
}


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_not_the_text_of_an_expression_is_refused(text):
    with pytest.raises(OpError) as caught:
        Expression.from_text(text)
    assert str(caught.value) == f"the text of an expression must have {TEXTS[text]}: {text!r}"
