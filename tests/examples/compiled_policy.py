# ruff: noqa: ANN001, ANN201
import agents
from monopoly_env import actions

BUY, DECLINE, GO_ON = actions.parse("buy"), actions.parse("decline"), actions.parse("go on")


@agents.policy_kernel
def saver(game, mask, params, memory):
    if mask[BUY]:  # buys while it has params[0] dollars
        return BUY if game.cash[game.player] >= params[0] else DECLINE
    return GO_ON if mask[GO_ON] else mask.argmax()  # otherwise the first legal action


agents.register("saver", lambda keep=500.0: agents.CompiledPolicy("saver", saver, [keep]))
print(agents.arena.play(["saver", "random"], games=1000))
