"""Environments for libraries with their own base class: `sb3`, `torchrl`, `rllib`, `openspiel`.

Each module imports its library, so import only the one in use. docs/clients.md has other libraries.
"""
