"""The table: play, watch, replay and analyse games in a browser. `python -m monopoly_env.serve` starts it; docs/protocol.md is its language."""
