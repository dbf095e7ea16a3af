"""Kernels play with checks of every index: `make bounds`.

The default test run leaves it out, since it compiles the engine again.
"""
