"""Rendering of games.

The board in a terminal (`text`), and what a step did, in words (`narrate`).
"""
