"""What an entry says of itself: what its owner knows, and what made it."""

import pytest

from brainsmith.progress import carried
from brainsmith.store.about import MadeBy, noted
from brainsmith.store.values import Kept, inspect


def known(about=None):
    found = noted(about)
    return found.get("of"), found["origin"], found["by"]


def test_what_makes_an_entry_is_noted_as_long_as_it_works():
    of_build, of_step = MadeBy({"model.onnx": "1"}, model="model.onnx"), MadeBy({"x.npy": "2"}, step="fold")
    with pytest.raises(RuntimeError), of_build, of_step:
        assert known() == (
            None,
            {"model.onnx": "1", "x.npy": "2"},
            {"model": "model.onnx", "step": "fold"},
        )
        in_a_thread = carried(known)
        raise RuntimeError
    assert in_a_thread()[2] == {"model": "model.onnx", "step": "fold"}
    assert known() == (None, {}, {})


def test_an_entry_that_says_where_it_comes_from_is_believed():
    with MadeBy({"model.onnx": "1"}, model="model.onnx"):
        assert known({"of": "headers", "origin": {}}) == ("headers", {}, {"model": "model.onnx"})


def test_a_value_is_loaded_without_what_is_known_of_it(tmp_path):
    kept = Kept(str(tmp_path), "things", "key")
    kept.save("stamp", [1], {"of": "it", "stamped": (0, 1)})
    assert kept.load("stamp") == [1]
    key, value, about = inspect(kept.path)
    assert (key, value, about["of"], about["stamped"]) == (kept.key, [1], "it", (0, 1))
