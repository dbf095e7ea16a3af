"""`genetic/*`: players that are a row of genes, so that a population is an array.

`agents.make("genetic/rga", seed=3)` makes a random player, `genes=` one with given genes, and
`agents.load` reads a saved one. `KINDS` has the kinds of genomes: `KINDS["rga"].random(1000,
generator)` is a population (1000, G), `.rows(population)` are the rows for the kernel, and
`.policy(genome)` is a player. `explain(policy)` says what a genome means. Genes are chances or
shares from 0 to 1, or bits.

| kind | genes G, in this order | numbers a kernel reads |
|---|---|---|
| `rga` | 4 x 40 chances to buy, 64 x 64 to leave jail | the genes, then 19 scripted numbers |
| `tga` | 4 x 40 chances to buy, 4 x 4 to leave jail | the same |
| `sga` | the genes of `tga`, 6 bits each: 4 x 240 bits and 96 bits | chances k / 64, 19 numbers |
| `pring` | a preference K for each of the 28 lots | the genes |
| `pring_by_use` | 4 x 28: for buying, for building, for mortgages, for trading | the genes |
| `strategic` | places in their ranges of the 27 numbers of `strategic` | all its parameters |
| `expert` | the same for the 43 constants of `expert` | the same |

**`rga`, `tga`, `sga`** (Mukhar and Kalita, 2012; Mukhar's thesis, 2013). Gene 40 r + s is the
chance to buy the lot on square s, and in an auction to want it, in situation r: 0 nobody owns in
the group, 1 only the player itself does, 2 one opponent does, 3 two or more do. Twelve squares have
no lot; their genes are never read. The next genes are the chances to leave jail, drawn before each
throw. In `rga` it is gene 160 + 64 w + n, where w and n are the streets that opponents own
unmortgaged on the West side (pink, orange) and on the North side (red, yellow), a bit each in board
order, as in the program; with `unmortgaged=False`, all that they own, as the papers say. In the
others it is gene 160 + 4 w + n, with a bit for each of a side's two colour groups that one opponent
owns whole. A player that leaves uses a card if it has one. A player that declines a lot bids in its
auction by the same gene again, so a lot with gene p is obtained with chance 1 - (1 - p)^2 if nobody
bids more.

Everything that is not in the genes is played as by `yasumura`, with the numbers of Mukhar's
program: it builds down to the minimum cash, lifts mortgages, and trades by Yasumura's valuation
where the rules allow trades. Parameters of `yasumura` are set by name: `agents.make("genetic/rga",
of_buildings=0.1)`. For cash, it mortgages single streets, a single utility, railroads and
utilities, then sells hotels, then houses, then mortgages the rest. As in 2012, a player with less
than 50 dollars bids nothing. A player that wants a lot and can raise its cost bids cost + |N(0, 1)|
cost / 10. Otherwise the player that declined it bids a half, a third or a quarter of the cost, and
others bid cost / 2 + |N(0, 1)| cost / 6; never more than their cash. With `thesis=True`, a player
that wants the lot bids cost + |dU|, at most 1.1 costs if dU is below zero and 1.5 otherwise; others
bid cost / 2 + |N(0, 1)| cost / 6; never more than liquidation brings. dU is counted in dollars.

**`pring`, `pring_by_use`** (Pring, 2015). A lot is bought iff cash x K > price. Its value is K x
price, twice that if an exchange would gain or lose its group. In a turn, a player lifts mortgages,
offers one lot for one after moving, and builds. Debts sell buildings first, then mortgage. Lots
change hands if each is worth more to its new owner than to the old one, by both players' genes, and
the proposer gains; the partner is not asked, and may lose. The proposer draws one of these
exchanges. Members of an evolving population (`training.evolve --preset pring`) know each other's
genes at the table. Any other opponent is a stranger: it is supposed to prefer every lot by one
half, and its own offers are accepted if they gain. Where the paper is silent, the same test, cash x
K > cost, decides about houses and mortgages, the highest K first; bids go up to cash x K and to the
list price; and a player leaves jail while eight lots are left to buy. `pring_by_use` has a K of its
own for each use.

**`strategic`, `expert`** are ours: the numbers of the scripted families. Switches and modes keep
their defaults.

`genetic/<kind>/best` is the best genome of a kind that evolution has found here. For `rga`, `tga`
and `sga`, a genome of ones, which says yes to everything, is even better
(docs/results/evolution.md). There is no `genetic/frayn`: what the genes of Frayn's player (2005)
mean is not known.
"""

from collections.abc import Callable
from typing import Final

from agents.players.genetic import kinds, shipped
from agents.players.genetic.explanation import Explanation, Rule, explain
from agents.players.genetic.kinds import KINDS, GeneticPolicy, GenomeKind, kind_of

POLICIES: Final[dict[str, Callable[..., GeneticPolicy]]] = {**kinds.POLICIES, **shipped.POLICIES}

__all__ = [
    "KINDS",
    "POLICIES",
    "Explanation",
    "GeneticPolicy",
    "GenomeKind",
    "Rule",
    "explain",
    "kind_of",
]
