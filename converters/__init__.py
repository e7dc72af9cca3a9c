"""From other systems' files to articles as typed records: no database, no Flask, no click.

A converter is an iterator over articles, ignored items and mistakes. It never reports, and raises only if its source
cannot be read any further.
"""
