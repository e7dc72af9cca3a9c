// Write a static site: a page for each article, lists of all articles and of each category and keyword, a feed and a sitemap.xml.

import { mkdir, readFile, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, posix, sep } from "node:path";
import { ICON_URL, LABELS, LANGUAGE, SITE, SITE_NAME } from "./articles.mjs";
import { articleUrl, escapeText, exitWith, fetchAll, formatDay, prepareContent } from "./articles.mjs";
import { renderFeed, renderSitemap, scrollable, structuredData } from "./articles.mjs";

const STYLE = `
body { max-width: 42rem; margin: auto; padding: 1rem; font: 1.125rem/1.6 system-ui, sans-serif; }
body { overflow-wrap: break-word; }
img { max-width: 100%; height: auto; }
.banner { width: 100%; aspect-ratio: 1200 / 630; object-fit: cover; }
pre, table { display: block; overflow-x: auto; }
nav a { display: block; }
`;

process.on("uncaughtException", (error) => exitWith(error.message));

function renderPage({ type, url, title, description, head = "", body }) {
  return `<!doctype html>
<html lang="${LANGUAGE}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeText(title)}</title>
<meta name="description" content="${escapeText(description)}">
<link rel="canonical" href="${escapeText(url)}">
<link rel="alternate" type="application/rss+xml" title="${escapeText(SITE_NAME)}" href="${escapeText(SITE)}/feed.xml">
<link rel="icon" href="${ICON_URL}">
<meta property="og:type" content="${type}">
<meta property="og:url" content="${escapeText(url)}">
<meta property="og:title" content="${escapeText(title)}">
<meta property="og:description" content="${escapeText(description)}">
${head}<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

function renderLink(url, text, rel = "") {
  return `<a${rel && ` rel="${rel}"`} href="${escapeText(url)}">${escapeText(text)}</a>`;
}

/** Return the line with an article's date and category. */
function renderFacts({ publishedAt, categoryLinks }) {
  const date = `<time datetime="${publishedAt}">${formatDay(publishedAt)}</time>`;
  return [date, ...categoryLinks.map(({ url, name }) => renderLink(url, name))].join(" · ");
}

/** Return what follows an article's content: its keywords, and links to the articles before and after it. */
function renderFooter({ keywordLinks, newer, older }) {
  const links = keywordLinks.map(({ url, name }) => renderLink(url, name, "tag")).join(", ");
  const keywords = links && `\n<p>${escapeText(LABELS.keywords)}: ${links}</p>`;
  const neighbours = [
    newer && renderLink(newer.url, `${LABELS.newer}: ${newer.title}`, "prev"),
    older && renderLink(older.url, `${LABELS.older}: ${older.title}`, "next"),
  ];
  return `${keywords}\n<nav>\n${neighbours.filter(Boolean).join("\n")}\n</nav>`;
}

function renderArticle(article) {
  const banner = escapeText(article.bannerUrl);
  let head = `<meta property="article:published_time" content="${article.publishedAt}">
<script type="application/ld+json">${structuredData(article)}</script>
`;
  let body = `<p>${renderLink(`${SITE}/`, SITE_NAME)}</p>
<h1>${escapeText(article.title)}</h1>
<p>${renderFacts(article)}</p>
`;
  if (banner) {
    head = `<meta property="og:image" content="${banner}">\n${head}`;
    body += `<img class="banner" src="${banner}" alt="" width="1200" height="630">\n`;
  }
  body += scrollable(article.contentHtml) + renderFooter(article);
  const { slug, metaTitle: title, metaDesc: description } = article;
  return renderPage({ type: "article", url: articleUrl(slug), title, description, head, body });
}

/** Return an article's entry in a list. */
const renderItem = (article) =>
  `<li>${renderLink(articleUrl(article.slug), article.title)}<br>${renderFacts(article)}</li>\n`;

function renderList({ path, url, title, description, articles, newerUrl, olderUrl }) {
  const home = path && `<p>${renderLink(`${SITE}/`, SITE_NAME)}</p>\n`;
  const newer = newerUrl && `${renderLink(newerUrl, LABELS.newerArticles, "prev")}\n`;
  const older = olderUrl && `${renderLink(olderUrl, LABELS.olderArticles, "next")}\n`;
  const items = articles.map(renderItem).join("");
  const body = `${home}<h1>${escapeText(title)}</h1>\n<ul>\n${items}</ul>\n<nav>\n${newer}${older}</nav>`;
  return renderPage({ type: "website", url, title, description, body });
}

/** Return the text of each file by its path, articles first, so that lists only link to pages that exist. */
async function renderSite() {
  const { articles, lists, sitemap } = prepareContent(await fetchAll());
  const files = new Map(articles.map((article) => [`articles/${article.slug}/index.html`, renderArticle(article)]));
  for (const list of lists.reverse()) files.set(posix.join(list.path, "index.html"), renderList(list));
  return files.set("feed.xml", renderFeed(articles)).set("sitemap.xml", renderSitemap(sitemap));
}

/** Replace a file atomically. Errors name it. */
async function replaceFile(path, text) {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  } catch (error) {
    throw new Error(`${path}: ${error.message}`);
  }
}

/** Replace the files that differ, then remove the pages that no longer exist. */
async function writeSite(site, files) {
  for (const [name, text] of files) {
    const path = `${site}/${name}`;
    const current = await readFile(path, "utf-8").catch(() => null);
    if (current !== text) await replaceFile(path, text);
  }
  for (const folder of ["articles", "page", "category", "keyword"]) {
    const names = await readdir(`${site}/${folder}`, { recursive: true }).catch(() => []);
    // The longest come first, so that category/news/2 is removed before category/news.
    for (const name of names.sort((first, second) => second.length - first.length)) {
      const path = `${folder}/${name.split(sep).join("/")}`;
      if (basename(path) !== "index.html" || files.has(path)) continue;
      await rm(`${site}/${path}`);
      await rmdir(dirname(`${site}/${path}`)).catch(() => {}); // The folder stays if it is not empty.
    }
  }
}

const site = process.argv[2] ?? "site";
const files = await renderSite();
await writeSite(site, files);
const articles = [...files.keys()].filter((name) => name.startsWith("articles/"));
console.log(`Articles in ${site}: ${articles.length}`);
