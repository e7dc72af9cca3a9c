<?php
// Render a list of the newest articles and a page for each article on request.

require __DIR__ . "/articles.php";

function escape($text) {
    return htmlspecialchars($text, ENT_QUOTES | ENT_XML1);
}

function render_page($title, $description, $url, $body, $head = "") {
    [$title, $description, $url] = array_map("escape", [$title, $description, $url]);
    return <<<HTML
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>$title</title>
        <meta name="description" content="$description">
        <link rel="canonical" href="$url">
        $head</head>
        <body>
        $body
        </body>
        </html>

        HTML;
}

function render_article($article) {
    $head = '<script type="application/ld+json">' . structured_data($article) . "</script>\n";
    $day = substr($article->publishedAt, 0, 10); // in UTC
    $facts = "<time datetime=\"$article->publishedAt\">$day</time>";
    $facts .= $article->category === "" ? "" : " · " . escape($article->category);
    $body = "<h1>" . escape($article->title) . "</h1>\n<p>$facts</p>\n$article->contentHtml";
    return render_page($article->metaTitle, $article->metaDesc, article_url($article->slug), $body, $head);
}

function render_list($previews) {
    $items = "";
    foreach ($previews as $preview) {
        $url = escape(article_url($preview->slug));
        $items .= "<li><a href=\"$url\">" . escape($preview->title) . "</a></li>\n";
    }
    return render_page(SITE_NAME, SITE_NAME, SITE . "/", "<h1>" . escape(SITE_NAME) . "</h1>\n<ul>\n$items</ul>");
}

/** Return the page at a path below SITE, or null. */
function render($path) {
    if ($path === "") {
        return render_list(fetch_json("articles/preview")->data);
    }
    preg_match('~^articles/([^/]+)/$~D', $path, $match);
    $slug = rawurldecode($match[1] ?? "");
    $article = preg_match('/^[^\0]{1,200}$/Dsu', $slug) ? fetch_article($slug) : null;
    return $article ? render_article($article) : null;
}

$site_path = parse_url(SITE . "/", PHP_URL_PATH); // "/blog/" if SITE is https://www.example.com/blog
$path = explode("?", $_SERVER["REQUEST_URI"])[0];
try {
    $page = str_starts_with($path, $site_path) ? render(substr($path, strlen($site_path))) : null;
    http_response_code($page ? 200 : 404);
    echo $page ?? "Not found";
} catch (RuntimeException $error) {
    error_log($error->getMessage());
    http_response_code(503);
    header("Retry-After: 30");
    echo "Please try again in a minute.";
}
