"""Pure functions of an article's text, without a database or Flask."""
