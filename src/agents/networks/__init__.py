"""Networks that choose actions."""
