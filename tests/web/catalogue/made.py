"""Catalogues of records that tests write: plugins in files, a registry of them, and the site."""

from brainsmith.plugin.info import PluginInfo
from brainsmith.web.catalogue.entry_reading import read_entries
from brainsmith.web.catalogue.site import catalogue_files
from brainsmith.web.catalogue.source_links import SourceLinks
from tests.plugin.test_plugin_registry import registry_of

PAD = '''\
class Pad:
    """Surround a tensor.

    Along any axes.

    Args:
        node: The `Pad` node.
        value: What is put around it, which
            may be any integer.
    """

    def __init__(self, node, value: int = 0, *, exact=True):
        pass
'''


def record(name, type="transform", framework="brainsmith", source=None, folder=None, **fields):
    """A record; with a source and a folder, of a file there that has the plugin at its first line."""
    if source is not None:
        path = folder / f"{name.lower()}.py"
        path.write_text(source)
        fields |= {"origin": f"{path}:1", "reference": f"plugs.{name.lower()}:{name}"}
    fields.setdefault("reference", f"plugs.{name.lower()}:{name}")
    return PluginInfo(name=name, type=type, framework=framework, **fields)


def entries_of(*records):
    """What a catalogue shows of records."""
    entries, problems = read_entries(registry_of(*records), records)
    assert problems == []
    return entries


def site_of(*records, before=None, sources=()):
    """The files of the catalogue of some records, as texts by their paths."""
    links = SourceLinks(sources, {one.framework for one in records})
    files, _ = catalogue_files(entries_of(*records), links, before)
    return {path: content.decode() for path, content in files.items()}


def kernels_and_backends(folder):
    """Two frameworks' kernels of one name, and their backends."""
    return [
        record("Pad", "kernel", description="Put values around", source=PAD, folder=folder),
        record("Pad", "kernel", "finn", description="Zeros around images"),
        record("Lone", "kernel", "finn"),
        record("PadRTL", "backend", kernel="Pad", backend_type="rtl", description="Counts beats"),
        record("PadHLS", "backend", kernel="Pad", backend_type="hls"),
        record("Pad_rtl", "backend", "finn", kernel="Pad", backend_type="rtl"),
        record("OtherRTL", "backend", "acme", kernel="finn:Pad", backend_type="rtl"),
        record("Lost", "backend", "acme", kernel="Nowhere", backend_type="hls"),
        record("InferPad", kernel="Pad", stage="hardware", tags=("layout",)),
    ]
