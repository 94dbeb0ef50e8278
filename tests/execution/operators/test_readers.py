"""Which function reads which operator."""

import pytest

from brainsmith.execution.operators.readers import readers, reads


def test_an_operator_that_is_read_twice_is_refused():
    read = readers()["", "MatMul"]

    def second(node):
        """Read one."""

    with pytest.raises(ValueError) as caught:
        reads("", "MatMul")(second)
    assert str(caught.value) == (
        "operator MatMul of domain 'ai.onnx' is read twice: by brainsmith.execution.operators.matrix_products.mat_mul "
        f"and by {__name__}.test_an_operator_that_is_read_twice_is_refused.<locals>.second; remove one of them"
    )
    assert readers()["", "MatMul"] is read
