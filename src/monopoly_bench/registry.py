"""The players of text, by name. Importing it registers them (`monopoly_env.policy.names`)."""

from __future__ import annotations

from monopoly_bench import bot, language_model
from monopoly_env.policy import names

names.fill(
    {},
    {bot.KIND: bot.Bot, language_model.KIND: language_model.LanguageModel},
    # the text after the colon, as in "bot:node my_bot.js"
    {bot.KIND: "command", language_model.KIND: "model"},
)
