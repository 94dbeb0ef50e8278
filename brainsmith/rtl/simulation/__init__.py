"""Simulation with Verilator: built once per distinct content, driven natively, checked before it is used."""
