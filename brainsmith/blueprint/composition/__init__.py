"""From files to one tree of YAML nodes: what a blueprint extends, its variables, and changes to the order of its steps.

Each node keeps the place where it is written, so whatever is wrong with its value is said there. What comes out has
the form of a blueprint that stands in one file, which `brainsmith.blueprint.body` reads.
"""
