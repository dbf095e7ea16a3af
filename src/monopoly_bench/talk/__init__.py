r"""Table talk: messages and promises between players, beside a game and not in it.

    talk = Talk()
    talk.say(message("Leave me the railroads.", "no bid on orange for 5 rounds"), game)
    talk.step(game, action)  # before the action is carried out
    print(*talk.lines(game), sep="\n")

The rules know nothing of it. A message goes with an action of its player, so a recorded game needs
only the number of that action. Promises bind nobody; whether they are kept follows from the records
and actions of the game alone.
"""

from monopoly_bench.talk.conversation import BROKEN, KEPT, Given, Spoken, Talk, conversation
from monopoly_bench.talk.messages import HOW, marked, message, read
from monopoly_bench.talk.promises import FORMS, Promise

__all__ = [
    "BROKEN",
    "FORMS",
    "HOW",
    "KEPT",
    "Given",
    "Promise",
    "Spoken",
    "Talk",
    "conversation",
    "marked",
    "message",
    "read",
]
