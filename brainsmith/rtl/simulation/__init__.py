"""Simulation with Verilator: built once per distinct content, driven natively, judged before it is believed."""
