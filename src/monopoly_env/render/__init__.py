"""Rendering of games: the board in a terminal (`text`), and what a step did, in words (`narrate`)."""
