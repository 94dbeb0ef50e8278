"""Compiled ops: numpy code is traced to an expression, that becomes one loop in C++, which is built once and kept.

    from brainsmith.autodiff.compiling.compiled import CompiledExpression

    function = CompiledExpression("inputs = 2; t0 = multiply(x0, x1); t1 = tanh(t0); return t1")
    y = function(a, b)

`tracer.trace(function, dtypes).text` gives such a text, `CompiledExpression(text)` the function of arrays: it broadcasts
as numpy does and takes any dtypes and strides.

    expression.py     what is computed, as a value, and its text
    functions.py      the functions that there are
    tracer.py         from numpy code to an expression
    dtypes.py         numpy's promotion
    numpy_form.py     computes an expression with numpy; bounds of errors
    call_layout.py    a call's arrays as rows and columns
    kernel.py         an expression with dtypes and layout: what is compiled
    source.py         its C++; vector_math.hpp and reductions.hpp have the functions, entry.hpp the call
    threads.py        how many threads share a call
    kernel_cache.py   builds and keeps it
    compiled.py       an expression as a function of arrays
    compiled_op.py    an op that is compiled
    chain_op.py       chains of ops as one
    ruled_forward.py  an op's forward, its results of the dtype of its rule
    content_keys.py   keys of attributes and ops
"""
