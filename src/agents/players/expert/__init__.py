"""`expert`: the strongest player written by hand, against which learned players are measured.

It compares gains in strength, its own and others', with the risk of the next turn. Strength is
cash, lots, and the rents of groups over the turns left. Its numbers were fitted to 61,000 positions
and tuned by games. `expert/bargaining` has evolved numbers and asks its partners for the price at
which they just agree; `expert/versatile` has numbers that win against many kinds of players,
`expert/bargaining/ocnaru` numbers for two players by the rules `ocnaru`.

`odds` has tables of landings, `values` the worth of players, `money` the price of being short of
cash, `building`, `trading` and `packages` choose houses and trades, `play` answers every decision,
and `parameters` holds all constants.

*Strength.* A player is worth its cash, a share of the list prices of its lots, the rents of its
groups over the turns left with the houses that it has or can pay for, and shares of that for parts
of groups. Players win in proportion to a power of their strengths. The constants were first fitted
to that by maximum likelihood, on 61,000 positions of games between scripted players and the winners
of these games. Then they were tuned one by one, against a field of scripted players and against the
previous version, on equal seeds.

*Decisions.* Every decision compares gains in strength, the player's own and others', with what it
adds to the risk of the next turn. The policy buys and bids up to the price at which it makes no
difference whether it or the keenest rival gets the lot. After its own throw, it builds what earns
more in the next round, given where the others are, than its price adds to the risk. It offers
packages of lots that raise its share of all strength, at a price that the partner may accept,
judging by what the partner has accepted and refused so far.

`expert/bargaining` (`bargainer`) plays with numbers that evolution found, one set for tables of two
and one for larger ones, and has a model of its partners: it assumes that they judge as `expert`
does, and asks for the price at which they just agree (`bargaining`). A partner that refuses such a
price is of another kind and gets no more of them; nor does anybody where two players are left.
`expert/versatile` is the same with numbers that evolved against generated players (`strangers`).
`expert/bargaining/ocnaru` has numbers for tables of two by the rules `ocnaru`, and no model.
`bargains=False` and `bargains=True` turn the model off and on; `agents.make("bargainer",
tables=[{"keep": 100}])` makes one of other numbers. The numbers are in `bargaining.json`;
docs/results/bargaining.md says how they were found and how strong they are.
"""

from collections.abc import Callable
from typing import Final

from agents.players.expert import bargainer, play
from agents.players.expert.bargainer import Bargainer
from monopoly_env.policy.protocol import CompiledPolicy

POLICIES: Final[dict[str, Callable[..., CompiledPolicy]]] = {**play.POLICIES, **bargainer.POLICIES}

__all__ = ["POLICIES", "Bargainer"]
