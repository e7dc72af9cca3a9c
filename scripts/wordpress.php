<?php
/**
 * The WordPress of scripts/wordpress: its configuration, its sample content, and the router of PHP's web server.
 *
 *   php scripts/wordpress.php install        creates the tables and the content
 *   php scripts/wordpress.php export         prints an export of all content
 *   php scripts/wordpress.php eval 'CODE'    runs PHP code in WordPress
 */

$folder = getenv('WORDPRESS_FOLDER');
$url = getenv('WORDPRESS_URL');
$command = PHP_SAPI === 'cli' ? $argv[1] : '';
$path = parse_url($_SERVER['REQUEST_URI'] ?? '/', PHP_URL_PATH);

define('ABSPATH', getenv('WORDPRESS_CODE') ?: '/usr/share/wordpress/');
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', "localhost:$folder/database/socket");
define('DB_CHARSET', 'utf8mb4');
define('WP_HOME', $url);
define('WP_SITEURL', $url);
define('WP_CONTENT_DIR', "$folder/content");
define('WP_CONTENT_URL', "$url/wp-content");
define('DISABLE_WP_CRON', true);
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('WP_INSTALLING', $command === 'install');
$table_prefix = 'wp_';

if ($command === 'install') {
    mkdir("$folder/content/themes/plain", 0755, true);
    $theme = "$folder/content/themes/plain";
    file_put_contents("$theme/style.css", "/* Theme Name: Plain */\n");
    file_put_contents("$theme/index.php", '<!DOCTYPE html><html><head><?php wp_head(); ?></head><body><?php '
        . 'while (have_posts()): the_post(); ?><h1><?php the_title(); ?></h1>'
        . '<article><?php the_content(); ?></article><?php endwhile; ?></body></html>');
    file_put_contents("$theme/functions.php", '<?php add_theme_support("html5", ["caption", "gallery"]); '
        . 'register_post_type("news", ["public" => true, "label" => "News", "show_in_rest" => true, '
        . '"rest_base" => "company-news", "supports" => ["title", "editor"]]);');
    mysqli_query(mysqli_connect('localhost', 'root', '', '', 0, "$folder/database/socket"), 'CREATE DATABASE wordpress');
    $_SERVER['HTTP_HOST'] = parse_url($url, PHP_URL_HOST);
    function wp_new_blog_notification() {} // sends an email
}
$_SERVER['PHP_SELF'] = parse_url($url, PHP_URL_PATH) . '/index.php';
require ABSPATH . 'wp-settings.php';

if ($command === 'install') {
    install();
} elseif ($command === 'export') {
    require ABSPATH . 'wp-admin/includes/export.php';
    export_wp();
} elseif ($command === 'eval') {
    eval($argv[2]);
} elseif (str_contains($path, '/wp-content/uploads/')) {
    header('Content-Type: image/png');
    readfile("$folder/content/uploads/" . basename($path));
} else {
    define('WP_USE_THEMES', true);
    wp();
    require ABSPATH . WPINC . '/template-loader.php';
}

function install() {
    require ABSPATH . 'wp-admin/includes/upgrade.php';
    wp_install('Café &amp; Blog', 'anna', 'anna@blog.example', true, '', 'password');
    switch_theme('plain');
    update_option('permalink_structure', '/%year%/%monthnum%/%postname%/');
    update_option('uploads_use_yearmonth_folders', '0');
    update_option('timezone_string', 'Europe/Berlin');
    flush_rewrite_rules();
    wp_delete_post(1, true);
    fill();
}

/** Create two authors' posts in both editors and in every state, with what WordPress renders at request time. */
function fill() {
    $bo = wp_insert_user(['user_login' => 'bo', 'user_pass' => 'password', 'display_name' => 'Bo & Söhne']);
    $picture = add_picture('harbour.png', 'The harbour');
    $other = add_picture('market.png', '');
    $image = wp_get_attachment_image($picture, 'full');
    $file = wp_get_attachment_url($picture);
    $paragraphs = "First paragraph\ngoes on -- \"quoted\".\n\nSecond &amp; <em>last</em>.";
    $posts = [
        'Classic' => $paragraphs . "\n\n<pre>code\n\n  stays</pre>\n\n<ul>\n<li>One</li>\n<li>Two</li>\n</ul>",
        'Caption' => "[caption id=\"attachment_$picture\" width=\"300\" align=\"alignleft\"]$image At dawn[/caption]\n\nText",
        'Gallery' => "Before\n\n[gallery ids=\"$picture,$other\" link=\"file\"]\n\nAfter",
        'Player' => "[audio src=\"$file.mp3\"]",
        'Embed' => "See\n\n" . home_url('/2026/01/classic/') . "\n\nand [embed]https://video.example/1[/embed]",
        'Links' => '<a href="/blog/2026/01/caption/">Absolute</a> <a href="' . home_url('/?p=5') . '">by number</a>',
        'More' => "Begin<!--more-->\n\nRest",
        'Shortcode' => "[unknown id=\"1\"]inside[/unknown]",
        'Code' => "<pre>\$a[x] = [1]</pre>\n\n<script>\nlet a\n\nlet b\n</script>",
        'Blocks' => block('paragraph', '<p>One</p>') . block('heading', '<h2>Two</h2>')
            . block('image', "<figure class=\"wp-block-image\"><img src=\"$file\" alt=\"\"/></figure>", ['id' => $picture])
            . block('columns', '<div class="wp-block-columns">' . block('column',
                '<div class="wp-block-column">' . block('paragraph', '<p>Left</p>') . '</div>') . '</div>'),
        'Latest' => block('paragraph', '<p>Newest</p>') . '<!-- wp:archives {"showPostCounts":true} /-->',
        'Block gallery' => block('gallery', '<figure class="wp-block-gallery has-nested-images">'
            . block('image', "<figure class=\"wp-block-image\"><img src=\"$file\"/></figure>") . '</figure>'),
        'Footnotes' => block('paragraph', '<p>Text<sup data-fn="n1"><a href="#n1" id="n1-link">1</a></sup></p>')
            . '<!-- wp:footnotes /-->',
        'Größe 😀 & "Quotes"' => 'Emoji 😀',
    ];
    foreach ($posts as $title => $content) {
        add_post(['post_title' => $title, 'post_content' => $content]);
    }
    update_post_meta(get_page_by_path('footnotes', OBJECT, 'post')->ID, 'footnotes', '[{"content":"The note","id":"n1"}]');
    for ($number = count($posts); $number < 120; $number++) {
        $id = add_post(['post_title' => "Post $number", 'post_content' => $paragraphs, 'post_author' => $bo]);
        wp_set_post_terms($id, ["Tag " . $number % 7, 'Q&A'], 'post_tag');
        wp_set_post_terms($id, [wp_create_category($number % 2 ? 'News' : 'Food & Drink'), wp_create_category('All')], 'category');
        if ($number % 3 === 0) {
            set_post_thumbnail($id, $picture);
            wp_update_post(['ID' => $id, 'post_excerpt' => "Summary of $number"]);
        }
    }
    add_post(['post_title' => 'Draft', 'post_content' => 'Not ready', 'post_status' => 'draft']);
    add_post(['post_title' => 'Private', 'post_content' => 'Secret', 'post_status' => 'private']);
    add_post(['post_title' => 'Protected', 'post_content' => 'Secret', 'post_password' => 'x']);
    add_post(['post_title' => 'Scheduled', 'post_content' => 'Later', 'post_date' => '2099-01-01 08:00:00']);
    add_post(['post_title' => 'Page', 'post_content' => 'About', 'post_type' => 'page']);
    add_post(['post_title' => 'Opening', 'post_content' => 'We open', 'post_type' => 'news']);
    wp_trash_post(add_post(['post_title' => 'Trashed', 'post_content' => 'Gone']));
}

function add_post($fields) {
    static $number = 0;
    $date = gmdate('Y-m-d H:i:s', strtotime('2026-01-02 08:00:00') + 3600 * $number++);
    $defaults = ['post_status' => 'publish', 'post_author' => 1, 'post_date' => $date];
    return wp_insert_post(wp_slash($fields + $defaults));
}

function add_picture($name, $caption) {
    $upload = wp_upload_bits($name, null, base64_decode(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='));
    $fields = ['post_mime_type' => 'image/png', 'post_title' => $name, 'post_excerpt' => $caption];
    $id = wp_insert_attachment($fields, $upload['file']);
    wp_update_attachment_metadata($id, ['width' => 1, 'height' => 1, 'file' => $name]);
    return $id;
}

function block($name, $html, $attributes = []) {
    $json = $attributes ? json_encode($attributes) . ' ' : '';
    return "<!-- wp:$name $json-->\n$html\n<!-- /wp:$name -->\n\n";
}
