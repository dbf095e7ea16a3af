"""`genetic/*`: players that are a row of genes, so that a population is an array with a row a player.

`agents.make("genetic/rga", seed=3)` is a random one, `genes=` gives them, `agents.load` brings a saved one back. `KINDS` has
the kinds of genomes: `KINDS["rga"].random(1000, generator)` is a population (1000, G), `.rows(population)` what the kernel
reads of it, `.policy(genome)` a player; `explain(policy)` says what a genome means. Genes are chances or shares from 0 to 1, or
bits.

| kind | genes G, in this order | numbers a kernel reads |
|---|---|---|
| `rga` | 4 x 40 chances to buy, 64 x 64 to leave jail | the genes, then 18 scripted numbers |
| `tga` | 4 x 40 chances to buy, 4 x 4 to leave jail | the same |
| `sga` | the genes of `tga`, 6 bits each: 4 strings of 240 bits, one of 96 | chances k / 64, then 18 scripted numbers |
| `pring` | a preference K for each of the 28 lots | the genes |
| `strategic` | where in its range each of the 27 numbers of `strategic` lies | all parameters of that family |
| `expert` | the same of the 43 constants of `expert` | the same |

**`rga`, `tga`, `sga`** (Mukhar and Kalita, 2012; Mukhar's thesis, 2013). Gene 40 r + s is the chance to buy the lot of square
s, and in an auction to want it, in situation r: 0 nobody owns in the group, 1 only I own in it, 2 one opponent does, 3 two or
more do. Twelve squares have no lot; their genes are never read. The next genes are the chances to leave jail, before each
throw: gene 160 + 64 w + n of `rga`, w and n the streets that opponents own unmortgaged on the West side (pink, orange) and on
the North side (red, yellow), a bit each in board order; gene 160 + 4 w + n of the others, with a bit for each of a side's two
colour groups that one opponent owns whole. Leaving hands in a card where there is one. A decliner bids by the same gene again,
so that a lot of gene p is obtained with chance 1 - (1 - p)^2 where nobody outbids him.

What is no gene is that of `yasumura`, with the numbers of Mukhar's program: building down to the minimum cash, lifting, trades
by Yasumura's valuation where the rules know trades; a parameter of `yasumura` is changed by its name:
`agents.make("genetic/rga", of_buildings=0.1)`. Cash is raised by mortgages of single streets, a single utility, railroads and
utilities, then hotels, then houses, then the rest. In 2012 a player with less than 50 dollars bids nothing; who wants a lot
whose cost can be raised bids cost + |N(0, 1)| cost / 10; else the decliner bids a half, a third or a quarter of the cost,
others cost / 2 + |N(0, 1)| cost / 6; never more than cash. With `thesis=True`: cost + |dU|, at most 1.1 or 1.5 costs as dU is
below zero or not; others cost / 2 + |N(0, 1)| cost / 6; never more than liquidation brings. dU is counted in dollars.

**`pring`** (Pring, 2015). A lot is bought iff cash x K > price. Its value is K x price, twice that where an exchange would gain
or lose its group. A turn lifts mortgages, offers one lot for one after moving, and builds; debts sell buildings first, then
mortgage. In his program a lot changes hands when each is worth more to its new owner, by both players' codes, and the proposer
gains. Players of different programs do not see each other's genes: here the proposer draws one of the exchanges by which it
gains, and the partner accepts if it gains, too. Where the paper is silent: the same test, cash x K > cost, decides about houses
and mortgages, the highest K first; bids go up to cash x K and the list price; it leaves jail while eight lots are left to buy.

**`strategic`, `expert`** are ours: the numbers of scripted families. Switches and modes keep their defaults.

`genetic/<kind>/best` is the best genome of a kind that evolution has found here. Genes of 1 throughout, which say yes to everything,
are better still for `rga`, `tga` and `sga` (docs/results/evolution.md).

There is no `genetic/frayn`: of Frayn's player (2005) its evolution, its cash reserve and its results are known, but not what its genes say.
"""

from collections.abc import Callable
from typing import Final

from agents.players.genetic import kinds, shipped
from agents.players.genetic.explanation import Explanation, Rule, explain
from agents.players.genetic.kinds import KINDS, GeneticPolicy, GenomeKind, kind_of

POLICIES: Final[dict[str, Callable[..., GeneticPolicy]]] = {**kinds.POLICIES, **shipped.POLICIES}

__all__ = ["KINDS", "POLICIES", "Explanation", "GeneticPolicy", "GenomeKind", "Rule", "explain", "kind_of"]
