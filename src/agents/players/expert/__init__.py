"""`expert`, the strongest player of ours that is written by hand: the bar that learned ones are measured against.

`odds` are tables of where tokens come to, `values` says what players are worth, `money` what being short of cash costs,
`building`, `trading` and `packages` choose houses and trades, `play` answers every decision, `parameters` holds all constants.

*Strength.* A player is worth his cash, a share of the list prices of his lots, the rents of his groups over the turns left with the
houses that he has or can pay, and shares of that for parts of groups. Players win by the shares of their strengths to a power. The
constants were first fitted to that: by likelihood, from 61,000 positions of games between scripted players and the winners of
these games. Then they were tuned one by one, against a field of scripted players and against the version before, on equal seeds.

*Decisions.* Every one compares gains in strength, own and others', with what it adds to the risk of the next turn. It buys and bids up
to the price at which it is the same whether it or the keenest rival gets the lot. It builds what earns more in the next round,
from where the others stand, than its price adds to the risk, after its own throw. It offers packages of lots that raise its own share,
at a price that the partner may accept by what he has accepted and refused so far.
"""

from agents.players.expert.play import POLICIES

__all__ = ["POLICIES"]
