"""Policies: the protocol that every player follows, the file that a saved one lies in, the table of names."""
