"""Blueprints: the YAML that says what to build and with which plugins."""
