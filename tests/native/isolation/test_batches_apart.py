"""A batch over the processes of several isolated libraries."""

import numpy as np
import pytest

from brainsmith import ops
from brainsmith.errors import PluginCrashError
from brainsmith.native.isolation.isolated_library import open_isolated


def test_a_batch_over_two_isolated_libraries(bad_library):
    libraries = [open_isolated(bad_library) for _ in range(2)]
    by_name = [{op.name: op for op in library.ops} for library in libraries]
    x = ops.shared_like(np.arange(20, dtype=np.float32).reshape(10, 2))
    parts = ops.split_batch(by_name[0]["twice"], [x], [ops_["twice"] for ops_ in by_name])
    np.testing.assert_array_equal(parts, 2 * x)
    with pytest.raises(PluginCrashError) as caught:
        ops.split_batch(by_name[0]["twice"], [x], [by_name[0]["twice"], by_name[1]["aborts"]])
    assert str(caught.value).startswith(
        "part 1 of the batch (samples 5:10): operation 'aborts' of native plugin bad_plugin 1.2.3"
    )
    for library in libraries:
        library.close()
