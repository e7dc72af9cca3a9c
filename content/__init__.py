"""Pure functions of an article's text: no database, no Flask."""
