"""Serving over HTTP: waitress and the log."""
