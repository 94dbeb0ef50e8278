"""Sessions: chunks, tensors to keep, threads, and models that ONNX Runtime does not take."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from brainsmith.errors import InputError, ModelError
from brainsmith.execution.onnx import sessions
from brainsmith.execution.onnx.rewrite import rewrite
from brainsmith.execution.onnx.sessions import StandardSession
from tests.execution.onnx.test_rewrite import inputs_of, network


@pytest.fixture(scope="module")
def standard():
    return rewrite(network(annotation=None))


def test_chunks_give_what_all_runs_give_at_once(standard, monkeypatch):
    session, x = StandardSession(standard, 1), inputs_of(23)[:, 0]
    whole = session.run({"x": x}, 23, keep=None)
    monkeypatch.setattr(sessions, "CHUNK_BYTES", 5 * standard.run_bytes)
    parts = session.run({"x": x}, 23, keep=None)
    assert list(parts) == list(whole) == ["y", "xq", "product", "halved"]
    for name, array in whole.items():
        np.testing.assert_array_equal(parts[name], array)


def test_what_can_be_kept(standard):
    session, x = StandardSession(standard, 1), inputs_of(2)[:, 0]
    found = session.run({"x": x}, 2, keep=["x", "halved", "y", "halved"])
    assert list(found) == ["y", "halved", "x"]
    assert found["x"] is x
    with pytest.raises(InputError) as caught:
        session.run({"x": x}, 2, keep=["nothing"])
    assert (
        str(caught.value) == "there is no tensor 'nothing' to keep; the tensors are x, xq, product, halved, y"
    )


def test_sessions_that_keep_more_are_few(standard):
    session, x = StandardSession(standard, 1), inputs_of(2)[:, 0]
    for keep in (["xq"], ["product"], ["halved"], ["xq", "product"], ["xq", "halved"], ["product", "halved"]):
        assert list(session.run({"x": x}, 2, keep)) == ["y", *keep]
    assert len(session._more) == 4


def test_threads_do_not_mix_results(standard):
    session = StandardSession(standard, 2)
    feeds = [inputs_of(7, seed)[:, 0] for seed in range(6)]
    wanted = [session.run({"x": x}, 7)["y"] for x in feeds]
    wrong = []

    def work(at):
        for _ in range(40):
            found = session.run({"x": feeds[at]}, 7, keep=["product"] if at % 2 else ())
            if not np.array_equal(found["y"], wanted[at]):
                wrong.append(at)

    workers = [threading.Thread(target=work, args=(at,)) for at in range(len(feeds))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_what_onnx_runtime_does_not_take(standard):
    with pytest.raises(ModelError) as caught:
        StandardSession(replace(standard, content=b"no model"), 1)
    assert str(caught.value).startswith("ONNX Runtime refuses the model, rewritten in standard operators: ")
