"""Pictures and stories of a game: the board in a terminal (`text`), what a step did in words (`narrate`)."""
