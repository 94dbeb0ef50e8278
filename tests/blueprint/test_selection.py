from brainsmith.blueprint.resolve import resolve_parts
from brainsmith.blueprint.schema import Blueprint, PluginName, StepEntry


def test_each_plugin_is_listed_once(registry):
    twice = (StepEntry("transform", PluginName("ExpandNorms")), StepEntry("transform", PluginName("norms")))
    steps = (StepEntry("transform", PluginName("MergeChains")),)
    blueprint = Blueprint("x.yaml", transforms=twice, steps=steps)
    selection, problems = resolve_parts(blueprint, registry)
    assert problems == []
    assert [record.name for record in selection.records] == ["ExpandNorms", "Streamline", "MergeChains"]
