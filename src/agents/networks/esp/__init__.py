"""`genetic/esp/*`: small networks that correct a scripted base policy, evolved neuron by neuron.

The method is ESP (Gomez and Miikkulainen 1997).

The base policy is `algorithmic`. Each of five networks, one for each kind of question, says a
factor from 0 to 4 by which a number of the base policy is multiplied. A network that says 0 (a
factor of 1), or that is switched off, leaves it as it is.

| network | judges | what it multiplies |
|---|---|---|
| `worth` | a lot | its worth: what is bought, how far bids go, which offers are accepted |
| `building` | a street | rent of its next building, and cash for it; in debt, its top one's rent |
| `mortgage` | a lot | how soon its mortgage is lifted; in debt, how much it is missed |
| `cash` | the table | the reserves of cash |
| `jail` | the table | how many lots count as unsold, which decides whether jail is left |

`building` multiplies the rent that the next building of the street adds, and the cash that may go
into it; in debt, what its top building earns. A higher factor of `jail` leaves jail sooner.

Every network sees the table in 15 numbers; those that judge a lot see it in 16 or 22 more, and the
same network judges all lots. So what is learned of orange serves red. Offers and all other
decisions are the base policy's, with the reserve that `cash` sets.

`feed_forward` networks have one hidden layer. `recurrent` ones keep a state from one decision to
the next; where they compare several lots, the chosen one's. `attentive` ones also look at the table
before the first decision of everybody's turn. The states are zeros when a game begins.

`agents.make("genetic/esp/recurrent", networks=["worth"])` plays with that network alone.
`python -m training.evolve --preset esp/monopoly` evolves such players; docs/esp.md tells how,
docs/results/esp_monopoly.md how strong they are.
"""

from agents.networks.esp.player import FORMS, INPUTS, KIND, QUESTIONS, EspPlayer, architecture, rows

__all__ = ["FORMS", "INPUTS", "KIND", "QUESTIONS", "EspPlayer", "architecture", "rows"]
