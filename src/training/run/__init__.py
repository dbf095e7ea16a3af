"""What every learner's run shares: its options, its folder, its checkpoints, its report, and the command around it."""
