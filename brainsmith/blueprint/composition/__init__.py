"""From files to one tree of YAML nodes: what a blueprint extends, its variables, and changes to the order of its steps.

Each node keeps the place where it is written, so what is wrong with its value is reported there. The result has
the form of a blueprint that stands in one file, which `brainsmith.blueprint.body` reads.
"""
