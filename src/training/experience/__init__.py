"""Where learners get experience from, and where it is kept."""
