"""Learned policies that stand on a scripted parent: networks say where another action is worth more than the parent's."""
