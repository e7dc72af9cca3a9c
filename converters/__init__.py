"""Convert other systems' files to typed article records, without a database, Flask or click.

A converter is an iterator over articles, ignored items and mistakes. It never reports, and raises only if its source
cannot be read any further.
"""
