"""Networks that choose actions; `layout` and `forward` are the layer that all of them share."""
