"""Networks that choose actions.

`layout` and `forward` are the network layer; `values`, `actor`, `ocnaru`, `agents.learned` build on
it.
"""
