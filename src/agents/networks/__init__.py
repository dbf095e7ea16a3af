"""Networks that choose actions. `layout` and `forward` are the one network layer; `values`, `actor`, `learned` and `ocnaru` play by it."""
