"""Training and measuring agents: each module is a command, `python -m training.<name> --help`."""
