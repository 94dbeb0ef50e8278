"""What is made of a model once, for all that verify it."""

from brainsmith.build.float_tie_check import NotedNetwork
from brainsmith.build.golden import GoldenData
from brainsmith.build.once_per_model import OncePerModel
from brainsmith.build.verification_device import VerificationDevice
from brainsmith.build.verifier import Verifier
from brainsmith.execution.execute import Executor
from brainsmith.transforms.integer_layers import IntegerLayers
from tests.build import graphs
from tests.comparison.float_ties.tie_networks import one_layer, samples


def test_a_model_that_may_have_changed_is_read_again():
    once, model = OncePerModel(), graphs.quant_mlp()
    assert once(Executor, model, None) is not once(Executor, model, None)
    with once.unchanged():
        first = once(Executor, model, None)
        assert once(Executor, model, None) is first
        assert isinstance(once(NotedNetwork, model), NotedNetwork)
        assert once(Executor, graphs.quant_mlp(), None) is not first
    with once.unchanged():
        assert once(Executor, model, None) is not first


def test_golden_and_generated_inputs_share_the_constants_of_what_they_verify():
    model, device = graphs.quant_mlp(), VerificationDevice()
    data = graphs.samples(model)[:, None]
    with device.once.unchanged():
        verifiers = [Verifier(model, GoldenData(some), {}, device=device) for some in (data, data[:4])]
    first, second = (verifier.network.program.constants for verifier in verifiers)
    assert first is second
    ties = [verifier._floats_before for verifier in verifiers]
    assert ties[0].network is ties[1].network


def test_the_network_is_let_go_once_layers_of_integers_are_what_is_compared_with():
    model = one_layer(0.7, 1.4)
    made = model.transform(IntegerLayers())
    data = samples(12)
    verifier = Verifier(model, GoldenData(data), {})
    verifier.check("integer", made, lambda: None)
    assert verifier.baseline.step == "integer"
    assert verifier._floats_before.network is None
    assert verifier._exact is None
    assert list(verifier.feed) == ["x"]
    assert not verifier.check("fold", made, lambda: None).reason
