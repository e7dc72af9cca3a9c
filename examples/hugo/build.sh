#!/bin/sh
# Build the site in a new folder. Hugo writes pages even if it fails, so replace the site only if it succeeds.
set -e
rm -rf built
# By default, Hugo requests nothing from localhost, and follows redirects to any host, with the key.
HUGO_SECURITY_HTTP_URLS="^$(echo "${ARTICLES_URL%/}/" | sed 's/[.+*?()|[{^$\\]/\\&/g')" hugo --destination built
rsync -a --delay-updates --delete-after built/ site
