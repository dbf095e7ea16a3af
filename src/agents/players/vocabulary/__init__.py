"""What the scripted players share: reading a game, groups, small decisions, composing offers, and names for parameters and memory."""
