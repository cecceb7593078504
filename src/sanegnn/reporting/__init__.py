"""Pictures of what was found, drawn from records."""
