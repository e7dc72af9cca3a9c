"""Serving over HTTP with waitress, and logging."""
