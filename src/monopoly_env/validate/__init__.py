"""Facts against the engine: where a sceptic starts. `python -m monopoly_env.validate --help`."""
