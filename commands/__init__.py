"""The `flask` commands."""
