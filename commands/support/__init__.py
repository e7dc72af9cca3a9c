"""What the commands share: their groups, parameters, sessions, errors and output."""
