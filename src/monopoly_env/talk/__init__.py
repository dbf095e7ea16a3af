r"""Table talk: messages and promises between players, beside a game and not in it.

    talk = Talk()
    talk.say(Message.of("Leave me the railroads.", "no bid on orange for 5 rounds"), game)
    talk.step(game, action)  # before the action is carried out
    print(*talk.lines(game), sep="\n")

The rules know nothing of it. A message goes with an action of its player, so a recorded game needs only the number of that action.
Promises bind nobody; whether they are kept follows from the records and actions of the game alone.
"""

from monopoly_env.talk.conversation import BROKEN, KEPT, MOST_MESSAGES, Given, Spoken, Talk
from monopoly_env.talk.messages import HOW, MOST_CHARACTERS, Message, clean, marked, read
from monopoly_env.talk.promises import FORMS, Promise

__all__ = [
    "BROKEN",
    "FORMS",
    "HOW",
    "KEPT",
    "MOST_CHARACTERS",
    "MOST_MESSAGES",
    "Given",
    "Message",
    "Promise",
    "Spoken",
    "Talk",
    "clean",
    "marked",
    "read",
]
