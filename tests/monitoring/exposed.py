"""Read what is exposed, with prometheus-client's own parser."""

import urllib.request

from prometheus_client.parser import text_string_to_metric_families


def families(text):
    """The families by the names that samples of them begin with; as a reader of the text knows them."""
    return {family.name: family for family in text_string_to_metric_families(text)}


def samples(text):
    """The values by names and labels."""
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def names(text):
    """All names that a query may use, of families without samples too."""
    found = set()
    for name, family in families(text).items():
        suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}.get(
            family.type, ("",)
        )
        found |= {name.removesuffix("_total") + suffix for suffix in suffixes}
    return found


def fetch(url, **headers):
    """The text at an address; errors of HTTP are raised."""
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as answer:
        return answer.read().decode()
