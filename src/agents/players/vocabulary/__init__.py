"""What several scripted players share: how they read a game, compose an offer, and describe their parameters."""
