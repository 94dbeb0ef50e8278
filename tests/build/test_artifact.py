from brainsmith.build.artifact import Artifact
from tests.build import graphs


def test_equal_graphs_have_equal_bytes_and_digests():
    first, second = Artifact.of(graphs.quant_mlp()), Artifact.of(graphs.quant_mlp())
    assert (first.data, first.digest) == (second.data, second.digest)
    assert Artifact.of(graphs.quant_mlp(seed=1)).digest != first.digest


def test_what_is_taken_can_be_changed_without_changing_the_artifact():
    artifact = Artifact.of(graphs.quant_mlp())
    model = artifact.take()
    model.graph.node[0].name = "changed"
    assert artifact.peek().graph.node[0].name == "act0"
    assert artifact.peek() is artifact.peek()
    assert Artifact.of(artifact.peek()).digest == artifact.digest
