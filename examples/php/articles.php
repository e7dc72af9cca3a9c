<?php
// Read the API.

const URL_PATTERN = '~^https?://[^\s/?#]+(/[^\s?#]*)?$~Di';
const ADVICE = "Check that the service is running, and that ARTICLES_URL and ARTICLES_KEY are correct.";

define("ARTICLES_URL", read_url("ARTICLES_URL", "http://127.0.0.1:8000/api/public/v1"));
define("ARTICLES_KEY", read_variable("ARTICLES_KEY", '/^[!-~]+$/D', "an API key of your service"));
define("SITE", read_url("SITE", "https://www.example.com"));
define("SITE_NAME", getenv("SITE_NAME") ?: explode("/", SITE)[2]);

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

/** Return a URL in an environment variable, without the slash at its end. */
function read_url($name, $example) {
    return rtrim(read_variable($name, URL_PATTERN, "a URL, such as $example"), "/");
}

function article_url($slug) {
    return SITE . "/articles/" . rawurlencode($slug) . "/";
}

/**
 * Return the response to a request. Throws a RuntimeException if it is not a list.
 * Redirects are not followed: they may lead to another host, which must not get the key.
 */
function fetch_json($path, $query = []) {
    $url = rtrim(ARTICLES_URL . "/$path?" . http_build_query($query), "?");
    $http = ["header" => "x-api-key: " . ARTICLES_KEY, "ignore_errors" => true, "timeout" => 60, "follow_location" => 0];
    $stream = @fopen($url, "r", false, stream_context_create(["http" => $http]));
    if (!$stream) {
        $reason = preg_replace('/^.*: /s', "", error_get_last()["message"]);
        throw new RuntimeException("$url: " . rtrim($reason, " .!") . ". " . ADVICE);
    }
    $response = json_decode(stream_get_contents($stream));
    if (is_array($response->data ?? null)) {
        return $response;
    }
    $moved = preg_grep("/^Location:/i", stream_get_meta_data($stream)["wrapper_data"]);
    $problem = $moved ? "It has moved. " . current($moved) . "." : "This response is not from the API.";
    throw new RuntimeException("$url: " . ($response->detail ?? $problem) . " " . ADVICE);
}

/** Return the articles that match the query, newest first. Throws a RuntimeException if their number changes. */
function fetch_articles($query = []) {
    $articles = [];
    do {
        $page = fetch_json("articles", $query + ["take" => 100, "skip" => count($articles)]);
        $total ??= $page->meta->total;
        $articles = array_merge($articles, $page->data);
        if ($page->meta->total !== $total || (!$page->data && count($articles) < $total)) {
            throw new RuntimeException("The articles changed while they were being read. Run this again.");
        }
    } while (count($articles) < $total);
    return $articles;
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
