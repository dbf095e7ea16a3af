"""Environments for libraries that need their own base class.

`adapters.sb3`, `adapters.torchrl`, `adapters.rllib`, `adapters.openspiel`.

Each module imports its library, so import the one that you use. docs/clients.md shows how other
libraries use the environments.
"""
