"""Learned policies over a scripted parent: a model of partners sets the prices of trades, networks replace answers they can improve."""
