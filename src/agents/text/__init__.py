"""Players that read and write text: language models behind an endpoint, and programs in any language behind a pipe.

    player = agents.make("language_model", url="http://localhost:8000/v1", model="my-model", log="calls.jsonl")
    other = agents.make("bot:node my_bot.js")

What they are shown and how their answers are read is in `monopoly_env.prompts`. At the tables of `agents.text.play` they may talk
(`monopoly_env.talk`).
"""

from agents.text.bot import Bot
from agents.text.endpoint import Endpoint, Reply
from agents.text.model import LanguageModel
from agents.text.player import TextPlayer
from agents.text.table import Played, play

__all__ = ["Bot", "Endpoint", "LanguageModel", "Played", "Reply", "TextPlayer", "play"]
