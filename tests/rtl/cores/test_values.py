"""What a backend says of itself: support and parallelism; and the module that wraps its core."""

import pytest

from brainsmith.rtl.cores.node_support import SUPPORTED, unsupported
from brainsmith.rtl.cores.parallelism import Parallelism, divisors


def test_support_is_true_or_has_a_reason():
    assert SUPPORTED
    assert not unsupported("its input is FLOAT32")
    assert unsupported("its input is FLOAT32").reason == "its input is FLOAT32"
    with pytest.raises(ValueError, match=r"^a backend that does not support a node must say why$"):
        unsupported("")


def test_parallelism_ascends():
    assert Parallelism("PE", divisors(12)).values == (1, 2, 3, 4, 6, 12)
    for values in ((), (2, 1), (1, 1), (0, 1)):
        with pytest.raises(ValueError, match=r"^values of PE must be ascending and positive, not "):
            Parallelism("PE", values)
    with pytest.raises(ValueError, match=r"^a number with divisors must be 1 or more, not 0$"):
        divisors(0)
