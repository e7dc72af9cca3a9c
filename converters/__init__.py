"""Convert other systems' files and sites to articles, without a database, Flask or click.

- `wordpress`, `ghost`, `markdown` and `csv_files` are the systems. Each has a function `read_…`, which yields articles,
  ignored files and problems. It raises SourceError or OSError if its source cannot be read past some point.
  `wordpress.site` reads a WordPress site by its REST API, the others read files.
- `source_articles` defines what they yield.
- `field_mapping` makes an article from named fields, as Markdown and CSV have them. `field_names` has the names of the
  fields, and `claims` decides what the fields say about publication.
- `http_client` requests URLs. `decoding` turns bytes into text and JSON. `front_matter` parses and writes the fields at
  the top of a file.
- `values`, `dates` and `slugs` convert values.
- `article_urls` resolves URLs, moves pictures and records links. `old_urls` finds the URLs that articles had.
- `leftover_markup` notes or drops shortcodes and template tags that stay in the content.

Systems import the other modules, never each other. The formats of this service are in `transfer`, which uses these
modules too.
"""
