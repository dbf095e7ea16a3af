"""Networks over a scripted parent, taught by pairs of rollouts that differ in one action."""
