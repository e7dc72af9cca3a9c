<?php
// Write a static site: a page for each article, lists of all and by category and keyword, a feed and a sitemap.xml.

// By default, PHP only warns about failures, and continues.
set_error_handler(fn($level, $message) => error_reporting() & $level ? throw new RuntimeException($message) : false);

require __DIR__ . "/articles.php";

const PAGE_SIZE = 50;
const FEED_SIZE = 20;
const ICON = "<svg xmlns='http://www.w3.org/2000/svg'><rect width='100%' height='100%' fill='#246'/></svg>";
const STYLE = "
body { max-width: 42rem; margin: auto; padding: 1rem; font: 1.125rem/1.6 system-ui, sans-serif; }
body { overflow-wrap: break-word; }
img { max-width: 100%; height: auto; }
.banner { width: 100%; aspect-ratio: 1200 / 630; object-fit: cover; }
pre, table { display: block; overflow-x: auto; }
nav a { display: block; }
";

function escape($text) {
    return htmlspecialchars($text, ENT_QUOTES | ENT_XML1);
}

/** Make scrollable elements reachable by keyboard. */
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

function render_link($url, $text, $rel = "") {
    $attribute = $rel ? " rel=\"$rel\"" : "";
    return "<a$attribute href=\"" . escape($url) . "\">" . escape($text) . "</a>";
}

/** Return the line with an article's date, in your site's time zone, and its category. */
function render_facts($article) {
    $published = $article->publishedAt;
    $day = (new DateTime($published))->setTimezone(SITE_TIMEZONE)->format("Y-m-d");
    $links = array_map(fn($link) => render_link(...$link), $article->category_links);
    return implode(" · ", ["<time datetime=\"$published\">$day</time>", ...$links]);
}

/** Return what follows an article's content: its keywords, and links to the articles before and after it. */
function render_footer($article, $newer, $older) {
    $keywords = implode(", ", array_map(fn($link) => render_link($link[0], $link[1], "tag"), $article->keyword_links));
    $nav = $newer ? render_link(article_url($newer->slug), LABELS["newer"] . ": $newer->title", "prev") . "\n" : "";
    $nav .= $older ? render_link(article_url($older->slug), LABELS["older"] . ": $older->title", "next") . "\n" : "";
    $label = escape(LABELS["keywords"]);
    return ($keywords ? "\n<p>$label: $keywords</p>" : "") . "\n<nav>\n$nav</nav>";
}

function render_article($article, $newer, $older) {
    $head = "<meta property=\"article:published_time\" content=\"$article->publishedAt\">\n"
        . '<script type="application/ld+json">' . structured_data($article) . "</script>\n";
    $body = "<p>" . render_link(SITE . "/", SITE_NAME) . "</p>\n"
        . "<h1>" . escape($article->title) . "</h1>\n<p>" . render_facts($article) . "</p>\n";
    if ($article->bannerUrl) {
        $banner = escape($article->bannerUrl);
        $head = "<meta property=\"og:image\" content=\"$banner\">\n$head";
        $body .= "<img class=\"banner\" src=\"$banner\" alt=\"\" width=\"1200\" height=\"630\">\n";
    }
    $body .= scrollable($article->contentHtml) . render_footer($article, $newer, $older);
    return render_page("article", article_url($article->slug), $article->metaTitle, $article->metaDesc, $body, $head);
}

/** Return an article's entry in a list. */
function render_item($article) {
    $link = render_link(article_url($article->slug), $article->title);
    return "<li>$link<br>" . render_facts($article) . "</li>\n";
}

/** Return the text of each page of a list by its path, the first page last. */
function render_list($path, $title, $articles) {
    $pages = array_chunk($articles, PAGE_SIZE) ?: [[]];
    $path_of = fn($index) => $index ? ($path ?: "page") . "/" . ($index + 1) : $path;
    $files = [];
    foreach (array_reverse($pages, true) as $index => $page) {
        $heading = $index ? "$title, " . LABELS["page"] . " " . ($index + 1) : $title;
        $description = "$heading, " . LABELS["newest_first"] . ".";
        $newer = $index ? render_link(list_url($path_of($index - 1)), LABELS["newer_articles"], "prev") . "\n" : "";
        $has_older = $index + 1 < count($pages);
        $older = $has_older ? render_link(list_url($path_of($index + 1)), LABELS["older_articles"], "next") . "\n" : "";
        $home = $path_of($index) === "" ? "" : "<p>" . render_link(SITE . "/", SITE_NAME) . "</p>\n";
        $items = implode("", array_map("render_item", $page));
        $body = "$home<h1>" . escape($heading) . "</h1>\n<ul>\n$items</ul>\n<nav>\n$newer$older</nav>";
        $html = render_page("website", list_url($path_of($index)), $heading, $description, $body);
        $files[ltrim($path_of($index) . "/index.html", "/")] = $html;
    }
    return $files;
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
    $order = escape(LABELS["newest_first"]);
    return <<<XML
        <?xml version="1.0" encoding="UTF-8"?>
        <rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
        <channel>
        <title>$name</title>
        <link>$site/</link>
        <atom:link rel="self" type="application/rss+xml" href="$site/feed.xml"/>
        <description>$name, $order.</description>
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

/** Return the text of each file by its path, articles first, so that lists only link to pages that exist. */
function render_site() {
    [$articles, $sitemap] = fetch_all();
    $categories = group_articles($articles, "category", fn($article) => [$article->category]);
    $keywords = group_articles($articles, "keyword", fn($article) => $article->keywords);
    $files = [];
    foreach ($articles as $index => $article) {
        $html = render_article($article, $articles[$index - 1] ?? null, $articles[$index + 1] ?? null);
        $files["articles/$article->slug/index.html"] = $html;
    }
    foreach ([...$keywords, ...$categories] as $list) {
        $files += render_list($list->path, $list->title, $list->articles);
    }
    $files += render_list("", SITE_NAME, $articles);
    $files["feed.xml"] = render_feed(array_slice($articles, 0, FEED_SIZE));
    $files["sitemap.xml"] = render_sitemap($sitemap);
    return $files;
}

/** Return the paths of the pages below a folder, the deepest first. */
function find_pages($folder) {
    $pages = [];
    foreach (is_dir($folder) ? array_diff(scandir($folder), [".", ".."]) : [] as $name) {
        array_push($pages, ...find_pages("$folder/$name"));
    }
    return is_file("$folder/index.html") ? [...$pages, "$folder/index.html"] : $pages;
}

/** Replace a file atomically. Errors name it. */
function replace_file($path, $text) {
    try {
        is_dir(dirname($path)) || mkdir(dirname($path), recursive: true);
        file_put_contents("$path.new", $text);
        rename("$path.new", $path);
    } catch (RuntimeException $error) {
        throw new RuntimeException("$path: " . preg_replace('/^.*(\): |errno=\d+ )/', "", $error->getMessage()));
    }
}

/** Replace the files that differ, then remove the pages that no longer exist. */
function write_site($site, $files) {
    foreach ($files as $name => $text) {
        $path = "$site/$name";
        if (!is_file($path) || file_get_contents($path) !== $text) {
            replace_file($path, $text);
        }
    }
    foreach (["articles", "page", "category", "keyword"] as $folder) {
        foreach (find_pages("$site/$folder") as $path) {
            if (!isset($files[substr($path, strlen("$site/"))])) {
                unlink($path);
                scandir(dirname($path)) === [".", ".."] && rmdir(dirname($path));
            }
        }
    }
}

$site = $argv[1] ?? "site";
try {
    $files = render_site();
    write_site($site, $files);
    $articles = preg_grep("~^articles/~", array_keys($files));
    echo "Articles in $site: ", count($articles), PHP_EOL;
} catch (RuntimeException $error) {
    exit_with($error->getMessage());
}
