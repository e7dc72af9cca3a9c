"""From a source to rows of the database."""
