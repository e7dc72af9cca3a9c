#!/bin/sh
# Run a site's build if an article has changed since the last successful build: rebuild.sh COMMAND...
# It compares the ETag of each page of the list. The sitemap's would miss a second change on the same day.
set -eu
exit_with() { echo "$1" >&2; exit 1; }
[ $# -gt 0 ] || exit_with "Usage: rebuild.sh COMMAND..."
API="the URL of your service's API, such as http://127.0.0.1:8000/api/public/v1"
[ "${ARTICLES_URL-}" ] || exit_with "ARTICLES_URL is missing. Set it to $API."
[ "${ARTICLES_KEY-}" ] || exit_with "ARTICLES_KEY is missing. Set it to an API key of your service."
ARTICLES_URL=${ARTICLES_URL%/}
request() {
  response=$(curl -fsS -H "x-api-key: $ARTICLES_KEY" "$@" 2>&1) ||
    exit_with "$ARTICLES_URL cannot be read ($(echo "$response" | grep '^curl:')). Check ARTICLES_URL and ARTICLES_KEY."
}
request "$ARTICLES_URL/articles/preview?take=1"
total=$(echo "$response" | sed -n 's/.*"total": *\([0-9]*\).*/\1/p')
[ "$total" ] || exit_with "$ARTICLES_URL: This response is not from the API. Set ARTICLES_URL to $API."
for skip in $(seq 0 100 "$total"); do
  request --head "$ARTICLES_URL/articles?take=100&skip=$skip"
  echo "$response" | grep -i '^etag:' ||
    exit_with "The responses of $ARTICLES_URL have no ETag header. Configure the proxy that removes it to pass it on."
done >etags.new
cmp -s etags etags.new && exit
"$@"
mv etags.new etags
