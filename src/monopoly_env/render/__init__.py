"""Rendering of games: text for terminals, sentences about events, SVG, pixels and pages."""
