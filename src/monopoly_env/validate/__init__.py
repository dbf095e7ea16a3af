"""Checks of the engine that anyone can repeat: `python -m monopoly_env.validate --help`."""
