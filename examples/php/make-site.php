<?php
// Write a static site of all articles: lists, a page for each article, a feed and a sitemap.xml.

// PHP only warns of a failed download and would go on.
set_error_handler(fn($level, $message) => exit_with($message));

foreach (["ARTICLES_URL", "ARTICLES_KEY", "SITE"] as $name) {
    getenv($name) || exit_with("Set the environment variable $name.");
}
define("SITE", rtrim(getenv("SITE"), "/"));
define("SITE_NAME", getenv("SITE_NAME") ?: parse_url(SITE, PHP_URL_HOST));
define("SITE_TIMEZONE", getenv("SITE_TIMEZONE") ?: "UTC");
const LANGUAGE = "en";
const PAGE_SIZE = 50;
const FEED_SIZE = 20;
const ICON = "<svg xmlns='http://www.w3.org/2000/svg'><rect width='100%' height='100%' fill='#246'/></svg>";
const STYLE = "
body { max-width: 42rem; margin: auto; padding: 1rem; font: 1.125rem/1.6 system-ui, sans-serif; }
body { overflow-wrap: break-word; }
img { max-width: 100%; height: auto; }
.banner { width: 100%; aspect-ratio: 1200 / 630; object-fit: cover; }
pre, table { display: block; overflow-x: auto; }
";

function exit_with($message) {
    fwrite(STDERR, "$message\n");
    exit(1);
}

function article_url($slug) {
    return SITE . "/articles/" . rawurlencode($slug) . "/";
}

function list_url($number) {
    return SITE . ($number > 1 ? "/page/$number/" : "/");
}

function escape($text) {
    return htmlspecialchars($text, ENT_QUOTES | ENT_XML1);
}

function fetch_json($path, $query = []) {
    $http = ["header" => "x-api-key: " . getenv("ARTICLES_KEY"), "ignore_errors" => true, "timeout" => 60];
    $url = getenv("ARTICLES_URL") . "/$path?" . http_build_query($query);
    $response = json_decode(file_get_contents($url, false, stream_context_create(["http" => $http])));
    $status = substr($http_response_header[0], 9); // HTTP/1.1 401 Unauthorized
    return isset($response->data) ? $response : exit_with("$url: " . ($response->detail ?? $status));
}

/** Yield every article that matches the query, or every article, the newest first. */
function fetch_articles($query = []) {
    for ($skip = 0, $total = 1; $skip < $total; ) {
        $page = fetch_json("articles", $query + ["take" => 100, "skip" => $skip]);
        yield from $page->data;
        $skip += $page->meta->take;
        $total = $page->data ? $page->meta->total : 0;
    }
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

/** Return an article's structured data with its URL and yours, as JSON that is safe inside a script element. */
function structured_data($article) {
    foreach ($article->schemaMarkup->{"@graph"} as $node) {
        if (preg_grep('/(Article|Posting)$/', (array) ($node->{"@type"} ?? []))) {
            $node->mainEntityOfPage ??= article_url($article->slug);
            if (is_object($node->author ?? null)) {
                $node->author->url ??= SITE . "/";
            }
        }
    }
    $flags = JSON_HEX_TAG | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION;
    return json_encode($article->schemaMarkup, $flags);
}

/** Return content in which the keyboard reaches what scrolls. */
function scrollable($html) {
    return preg_replace('/<(pre|table)(?=[\s>])/', '<$1 tabindex="0"', $html);
}

function render_page($type, $url, $title, $description, $body, $head = "") {
    [$url, $title, $description, $name] = array_map("escape", [$url, $title, $description, SITE_NAME]);
    [$language, $feed, $icon, $style] = [LANGUAGE, escape(SITE . "/feed.xml"), rawurlencode(ICON), STYLE];
    return <<<HTML
        <!doctype html>
        <html lang="$language">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>$title</title>
        <meta name="description" content="$description">
        <link rel="canonical" href="$url">
        <link rel="alternate" type="application/rss+xml" title="$name" href="$feed">
        <link rel="icon" href="data:image/svg+xml,$icon">
        <meta property="og:type" content="$type">
        <meta property="og:url" content="$url">
        <meta property="og:title" content="$title">
        <meta property="og:description" content="$description">
        $head<style>$style</style>
        </head>
        <body>
        <main>
        $body
        </main>
        </body>
        </html>

        HTML;
}

/** Return the line with an article's date, in your site's time zone, and its category. */
function render_facts($article) {
    $published = $article->publishedAt;
    $day = (new DateTime($published))->setTimezone(new DateTimeZone(SITE_TIMEZONE))->format("Y-m-d");
    return implode(" · ", array_filter(["<time datetime=\"$published\">$day</time>", escape($article->category)]));
}

function render_article($article) {
    $head = "<meta property=\"article:published_time\" content=\"$article->publishedAt\">\n"
        . '<script type="application/ld+json">' . structured_data($article) . "</script>\n";
    $body = "<p><a href=\"" . escape(SITE) . "/\">Articles</a></p>\n"
        . "<h1>" . escape($article->title) . "</h1>\n<p>" . render_facts($article) . "</p>\n";
    if ($article->bannerUrl) {
        $banner = escape($article->bannerUrl);
        $head = "<meta property=\"og:image\" content=\"$banner\">\n$head";
        $body .= "<img class=\"banner\" src=\"$banner\" alt=\"\" width=\"1200\" height=\"630\">\n";
    }
    $body .= scrollable($article->contentHtml);
    return render_page("article", article_url($article->slug), $article->metaTitle, $article->metaDesc, $body, $head);
}

/** Return an article's entry in a list. */
function render_item($article) {
    $link = '<a href="' . escape(article_url($article->slug)) . '">' . escape($article->title) . "</a>";
    return "<li>$link<br>" . render_facts($article) . "</li>\n";
}

function render_list($articles, $number, $last) {
    $title = $number > 1 ? "Articles, page $number" : "Articles";
    $items = implode("", array_map("render_item", $articles));
    $nav = "";
    foreach ([[$number - 1, "prev", "Newer articles"], [$number + 1, "next", "Older articles"]] as [$to, $rel, $text]) {
        if ($to >= 1 && $to <= $last) {
            $nav .= "<a rel=\"$rel\" href=\"" . escape(list_url($to)) . "\">$text</a>\n";
        }
    }
    $body = "<h1>$title</h1>\n<ul>\n$items</ul>\n<nav>\n$nav</nav>";
    return render_page("website", list_url($number), $title, "All our articles, the newest first.", $body);
}

function render_feed_item($article) {
    $url = article_url($article->slug);
    [$title, $url, $id, $description] = array_map("escape", [$article->title, $url, $article->id, $article->metaDesc]);
    $date = (new DateTime($article->publishedAt))->format(DATE_RSS);
    return <<<XML
        <item>
        <title>$title</title>
        <link>$url</link>
        <guid isPermaLink="false">$id</guid>
        <pubDate>$date</pubDate>
        <description>$description</description>
        </item>

        XML;
}

function render_feed($articles) {
    [$name, $site, $items] = [escape(SITE_NAME), escape(SITE), implode("", array_map("render_feed_item", $articles))];
    return <<<XML
        <?xml version="1.0" encoding="UTF-8"?>
        <rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
        <channel>
        <title>$name</title>
        <link>$site/</link>
        <atom:link rel="self" type="application/rss+xml" href="$site/feed.xml"/>
        <description>All our articles, the newest first.</description>
        $items</channel>
        </rss>

        XML;
}

function render_sitemap($entries) {
    $urls = "";
    foreach ($entries as $entry) {
        $urls .= "<url><loc>" . escape(article_url($entry->url)) . "</loc><lastmod>$entry->lastmod</lastmod></url>\n";
    }
    return <<<XML
        <?xml version="1.0" encoding="UTF-8"?>
        <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
        $urls</urlset>

        XML;
}

/** Return the text of each file by its path, articles first, so that lists name only pages that exist. */
function render_site() {
    $articles = iterator_to_array(fetch_articles(), false);
    $entries = fetch_json("sitemap")->data;
    $files = [];
    foreach ($articles as $article) {
        $files["articles/$article->slug/index.html"] = render_article($article);
    }
    $pages = array_chunk($articles, PAGE_SIZE) ?: [[]];
    foreach (array_reverse($pages, true) as $index => $page) {
        $path = $index ? "page/" . ($index + 1) . "/index.html" : "index.html";
        $files[$path] = render_list($page, $index + 1, count($pages));
    }
    $files["feed.xml"] = render_feed(array_slice($articles, 0, FEED_SIZE));
    $files["sitemap.xml"] = render_sitemap($entries);
    return $files;
}

function file_names($folder) {
    return is_dir($folder) ? array_diff(scandir($folder), [".", ".."]) : [];
}

/** Replace the files that differ, each atomically, then remove the pages that no longer exist. */
function write_site($site, $files) {
    foreach ($files as $name => $text) {
        $path = "$site/$name";
        if (!is_file($path) || file_get_contents($path) !== $text) {
            is_dir(dirname($path)) || mkdir(dirname($path), recursive: true);
            file_put_contents("$path.new", $text);
            rename("$path.new", $path);
        }
    }
    foreach (["articles", "page"] as $folder) {
        foreach (file_names("$site/$folder") as $name) {
            if (!isset($files["$folder/$name/index.html"])) {
                foreach (file_names("$site/$folder/$name") as $file) {
                    unlink("$site/$folder/$name/$file");
                }
                rmdir("$site/$folder/$name");
            }
        }
    }
}

if (realpath($_SERVER["SCRIPT_FILENAME"]) === __FILE__) {
    write_site($argv[1] ?? "site", render_site());
}
