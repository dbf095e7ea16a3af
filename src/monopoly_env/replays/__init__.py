"""Replays: recorded games that play back exactly, as files, sentences and pictures."""

from monopoly_env.replays.files import (
    FORMAT,
    SUFFIX,
    from_dict,
    load,
    save,
    talk_data,
    talk_of,
    to_dict,
    versions,
)
from monopoly_env.replays.narration import labels, message, narrated, play, said, tell
from monopoly_env.replays.pictures import save_animation, save_html, to_html
from monopoly_env.replays.replay import (
    Replay,
    digest,
    extended,
    final,
    games,
    redraw,
    settle,
    start,
    step,
)

__all__ = [
    "FORMAT", "SUFFIX", "Replay", "digest", "extended", "final", "from_dict", "games", "labels",
    "load", "message", "narrated", "play", "redraw",
    "said", "save", "save_animation", "save_html", "settle", "start", "step", "talk_data",
    "talk_of", "tell", "to_dict", "to_html", "versions",
]  # fmt: skip
