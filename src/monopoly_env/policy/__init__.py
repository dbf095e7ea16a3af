"""Policies.

The protocol that every player follows, the format of saved policies, and the table of names.
"""
