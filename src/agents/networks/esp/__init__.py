"""`genetic/esp/*`: small networks that correct a scripted base policy, evolved neuron by neuron.

The base policy is `algorithmic`; the method is ESP (Gomez and Miikkulainen 1997). Each of five
networks, one for each kind of question, scales a number of the base policy by a factor from 0 to 4.
An output of 0 is a factor of 1, as is a network that is switched off.

| network | input | scales |
|---|---|---|
| `worth` | a lot | its worth: what is bought, how far bids go, which offers are accepted |
| `building` | a street | rent of its next building, and cash for it; in debt, its top one's rent |
| `mortgage` | a lot | how soon its mortgage is lifted; in debt, how much it is missed |
| `cash` | the table | the reserves of cash |
| `jail` | the table | how many lots count as unsold, which decides whether jail is left |

`building` scales the rent that the next building of the street adds, and the cash that may be spent
on it; in debt, the rent that its top building earns. A higher factor of `jail` leaves jail sooner.

Every network sees the table in 15 numbers, and its lot or street in 16 or 22 more. One network
judges all lots, so that experience with orange generalizes to red. Offers and all other decisions
are the base policy's, with the reserve that `cash` sets.

`feed_forward` networks have one hidden layer. `recurrent` ones keep a state between decisions; if
they compare several lots, that of the chosen one. `attentive` ones also observe the table before
the first decision of every player's turn. States are zeros at the beginning of a game.

`agents.make("genetic/esp/recurrent", networks=["worth"])` plays with that network only.
`python -m training.evolve --preset esp/monopoly` evolves such players (docs/esp.md);
docs/results/esp.md has their strength.
"""

from agents.networks.esp.player import FORMS, INPUTS, KIND, QUESTIONS, EspPlayer, architecture, rows

__all__ = ["FORMS", "INPUTS", "KIND", "QUESTIONS", "EspPlayer", "architecture", "rows"]
