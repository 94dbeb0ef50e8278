"""A model of RTL layers as one design: what is generated, how it is connected, and its files."""
