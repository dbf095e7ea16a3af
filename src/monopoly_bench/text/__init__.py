"""Players that read and write text.

They are language models behind an endpoint, and programs in any language behind a pipe.

    player = agents.make(
        "language_model", url="http://localhost:8000/v1", model="my-model", log="calls.jsonl"
    )
    other = agents.make("bot:node my_bot.js")

What they are shown and how their answers are read is in `monopoly_bench.prompts`. At the tables of
`monopoly_bench.text.play` they may talk (`monopoly_bench.talk`).
"""

from monopoly_bench.text.bot import Bot
from monopoly_bench.text.endpoint import Endpoint, Reply
from monopoly_bench.text.model import LanguageModel
from monopoly_bench.text.player import TextPlayer
from monopoly_bench.text.table import Played, play

__all__ = ["Bot", "Endpoint", "LanguageModel", "Played", "Reply", "TextPlayer", "play"]
