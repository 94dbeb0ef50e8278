from brainsmith.blueprint.build_step import BuildStep
from brainsmith.build.artifact import Artifact
from brainsmith.build.pipeline import run_pipeline

STEPS = tuple(BuildStep(name, "callable", "step") for name in ("a", "b"))


def test_the_callback_sees_what_is_before_and_behind_each_model():
    seen = []

    def callback(previous, model, following):
        seen.append((previous and previous.name, model.data, following and following.name))

    def apply(step, model):
        return Artifact(model.data + step.name.encode())

    result = run_pipeline(STEPS, Artifact(b"0"), apply, callback)
    assert result.data == b"0ab"
    assert seen == [(None, b"0", "a"), ("a", b"0a", "b"), ("b", b"0ab", None)]


def test_arguments_of_steps_and_transforms():
    class Transform:
        def __init__(self, factor=1):
            self.factor = factor

    class Model:
        def transform(self, transform):
            return transform.factor

    def step(model, cfg, depth=0):
        return model, cfg, depth

    assert BuildStep("t", "callable", "transform", {"factor": 3}, target=Transform).load()(Model(), None) == 3
    assert BuildStep("t", "callable", "transform", target=Transform(5)).load()(Model(), None) == 5
    assert BuildStep("s", "callable", "step", {"depth": 2}, target=step).load()("m", "c") == ("m", "c", 2)
    assert BuildStep("s", "callable", "step", target=step).load() is step
