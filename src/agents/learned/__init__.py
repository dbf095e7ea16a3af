"""Learned agents: networks choose every action, one network for each kind of decision."""
