"""The table: play, watch, replay and analyse games in a browser: `python -m monopoly_table`.

docs/protocol.md describes the protocol of server and page.
"""
