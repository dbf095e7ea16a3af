"""`expert`, the strongest player of ours that is written by hand: the bar that learned ones are measured against."""

from agents.scripted.expert.play import POLICIES

__all__ = ["POLICIES"]
