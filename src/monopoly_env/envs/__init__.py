"""The environments: PettingZoo (`aec`), Gymnasium (`gym`), many games in one call (`vector`)."""
