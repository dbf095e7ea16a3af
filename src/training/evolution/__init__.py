"""Evolution of players: their numbers are found by playing, not set by hand.

`run` keeps a run on disk, whatever the algorithm. The algorithms are `cmaes` (the numbers of one
player against fixed opponents), `generations` and `steady` (a `populations` whose members play each
other), and `esp` (a network, neuron by neuron). By `neuron_search` a run has `esp` or one of its
`controls`: `schrum` on Pente, `esp_monopoly` on Monopoly; `poles` is a control task. `genome` turns
a vector into a player, `fitness` says what is to be won, `operators` selects, crosses and mutates.
"""
