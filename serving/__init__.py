"""Serving over HTTP: the response cache, waitress, the log."""
