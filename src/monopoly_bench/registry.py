"""The players of text, by name. Importing it registers them (`monopoly_env.policy.names`)."""

from __future__ import annotations

from monopoly_bench.text import Bot, LanguageModel, bot, model
from monopoly_env.policy import names

names.fill(
    {},
    {bot.KIND: Bot, model.KIND: LanguageModel},
    {bot.KIND: "command", model.KIND: "model"},  # what follows a colon: "bot:node my_bot.js"
)
