<?php
// Read the API.

const API_MEANING = "the URL of your service's API, such as http://127.0.0.1:8000/api/public/v1";
const KEY_MEANING = "an API key of your service";
const URL_PATTERN = '~^https?://[^\s/?#]+(/[^\s?#]*)?$~Di';
const ADVICE = [
    200 => "Set ARTICLES_URL to " . API_MEANING . ".",
    401 => "Set ARTICLES_KEY to " . KEY_MEANING . ".",
    404 => "Set ARTICLES_URL to " . API_MEANING . ".",
];

define("ARTICLES_URL", rtrim(read_variable("ARTICLES_URL", URL_PATTERN, API_MEANING), "/"));
define("ARTICLES_KEY", read_variable("ARTICLES_KEY", '/^[!-~]+$/D', KEY_MEANING));
const SITE_MEANING = "your site's URL, such as https://www.example.com";
define("SITE", rtrim(read_variable("SITE", URL_PATTERN, SITE_MEANING), "/"));
define("SITE_NAME", getenv("SITE_NAME") ?: explode("/", SITE)[2]);
define("SITE_TIMEZONE", read_time_zone());

/** Log a message (in a terminal, print it on stderr), and exit. */
function exit_with($message) {
    http_response_code(503);
    error_log($message);
    exit(1);
}

/** Return the value of an environment variable, or exit. */
function read_variable($name, $pattern, $meaning) {
    $value = getenv($name) ?: "";
    $fault = $value === "" ? "missing" : "invalid";
    return preg_match($pattern, $value) ? $value : exit_with("$name is $fault. Set it to $meaning.");
}

function read_time_zone() {
    try {
        return new DateTimeZone(getenv("SITE_TIMEZONE") ?: "UTC");
    } catch (Exception) {
        exit_with("SITE_TIMEZONE is invalid. Set it to a time zone, such as Europe/Berlin.");
    }
}

function article_url($slug) {
    return SITE . "/articles/" . rawurlencode($slug) . "/";
}

/** Return the day of a timestamp in your site's time zone, as in 2026-01-31. */
function format_day($timestamp) {
    return (new DateTime($timestamp))->setTimezone(SITE_TIMEZONE)->format("Y-m-d");
}

/** Return the status line and the body of a response, even of an error. */
function download($url) {
    $http = ["header" => "x-api-key: " . ARTICLES_KEY, "ignore_errors" => true, "timeout" => 60];
    $stream = @fopen($url, "r", false, stream_context_create(["http" => $http]));
    if (!$stream) {
        $reason = preg_replace('/^.*: /s', "", error_get_last()["message"]);
        throw new RuntimeException("$url: " . rtrim($reason, " .!") . ". Start the service, or set ARTICLES_URL to " . API_MEANING . ".");
    }
    $statuses = preg_grep('~^HTTP/~', stream_get_meta_data($stream)["wrapper_data"]); // one for each redirect
    return [end($statuses), stream_get_contents($stream)];
}

function fetch_json($path, $query = []) {
    $url = rtrim(ARTICLES_URL . "/$path?" . http_build_query($query), "?");
    [$line, $body] = download($url);
    [, $status, $phrase] = explode(" ", "$line  ", 3); // HTTP/1.1 401 Unauthorized
    $response = json_decode($body);
    if ($status === "200" && is_array($response->data ?? null)) {
        return $response;
    }
    $reason = $status === "200" ? "This response is not from the API." : $response->detail ?? trim($phrase) . ".";
    throw new RuntimeException(rtrim("$url: $status $reason " . (ADVICE[$status] ?? "")));
}

/** Yield the articles that match the query, newest first. */
function fetch_articles($query = []) {
    for ($skip = 0, $total = 1; $skip < $total; ) {
        $page = fetch_json("articles", $query + ["take" => 100, "skip" => $skip]);
        yield from $page->data;
        $skip += $page->meta->take;
        $total = $page->data ? $page->meta->total : 0;
    }
}

/**
 * Return all articles, newest first, and the sitemap.
 * Pages shift if the list changes while they are read. In that case, they are read again.
 */
function fetch_all() {
    for ($attempt = 1; $attempt <= 3; $attempt++) {
        $before = fetch_json("sitemap")->data;
        $articles = iterator_to_array(fetch_articles(), false);
        $sitemap = fetch_json("sitemap")->data;
        if (is_complete($articles, $before, $sitemap)) {
            return [$articles, $sitemap];
        }
    }
    $problem = "The articles changed while they were being read, three times in a row";
    throw new RuntimeException("$problem. Try again.");
}

/** Return whether the list did not change, and every article was read once. */
function is_complete($articles, $before, $after) {
    $slugs = array_column($articles, "slug");
    $listed = array_column($after, "url");
    $listed_before = array_column($before, "url");
    $is_same = !array_diff($listed, $listed_before) && !array_diff($listed_before, $listed);
    return $is_same && !array_diff($listed, $slugs) && count(array_unique($slugs)) === count($slugs);
}

/** Return the article with this slug, or null. Other servers of this API may ignore the filter, so compare. */
function fetch_article($slug) {
    foreach (fetch_articles(["slug" => $slug]) as $article) {
        if ($article->slug === $slug) {
            return $article;
        }
    }
    return null;
}

/** Return an article's structured data as JSON that is safe inside a script element. */
function structured_data($article) {
    $flags = JSON_HEX_TAG | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION;
    return json_encode($article->schemaMarkup, $flags);
}
