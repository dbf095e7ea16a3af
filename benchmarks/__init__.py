"""Measurements of speed; no test asserts one."""
