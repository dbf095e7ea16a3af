"""Parts of scripted players: the skeleton, reading a game, small decisions, offers, parameters."""
