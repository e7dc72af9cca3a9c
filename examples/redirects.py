"""Turn the old addresses of imported articles into redirects.

Usage: redirects.py FILE PATH

FILE is the one that `flask articles import --redirects FILE` wrote. PATH is the path under which your site shows
articles, such as /blog/. Writes `_redirects` for Netlify and Cloudflare Pages, and `redirects.map` for nginx.
"""

import csv
import sys
from urllib.parse import quote, unquote, urlsplit

if len(sys.argv) != 3:
    sys.exit(__doc__)
_, name, site_path = sys.argv
with open(name, encoding="utf-8") as file:
    rows = [(urlsplit(row["old_url"]), f"{site_path.rstrip('/')}/{row['slug']}") for row in csv.DictReader(file)]
pages = {page.lower() for _, page in rows}
redirects: dict[str, tuple[str, str]] = {}
for old, page in rows:
    path = unquote(old.path)
    shows_article = path.rstrip("/").lower() in pages  # a redirect would hide the article, or never end
    if not old.query and not shows_article:  # /?p=17 has the path of your home page
        redirects.setdefault(path.lower(), (path, page))  # nginx ignores case, and rejects repeated paths
with open("_redirects", "w", encoding="utf-8") as file:
    file.writelines(f"{quote(path)} {quote(page)} 301\n" for path, page in redirects.values())
with open("redirects.map", "w", encoding="utf-8") as file:
    file.writelines(f'"{path}" {quote(page)};\n' for path, page in redirects.values())
