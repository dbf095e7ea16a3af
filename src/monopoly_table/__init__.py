"""The table: play, watch, replay and analyse games in a browser: `python -m monopoly_table`.

docs/protocol.md describes the protocol of server and page.
"""

from monopoly_env.kernels import register_package

register_package(__name__)  # before its kernels are imported
