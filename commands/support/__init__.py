"""The groups, parameters, sessions, errors and output that commands share."""
