"""Facts as tables: the boards, the cards, and the editions that hold them."""
