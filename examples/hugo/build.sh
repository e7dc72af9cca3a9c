#!/bin/sh
# Build the site in a new folder. Hugo writes pages even if it fails, so replace the site only if it succeeds.
set -e
rm -rf built
hugo --destination built
rsync -a --delay-updates --delete-after built/ site
