import { ICON_URL, LABELS, LANGUAGE, SITE, SITE_NAME } from "../../articles.mjs";
import { articleUrl, formatDay, scrollable, structuredData } from "../../articles.mjs";
import { content } from "../../content.mjs";

for (const article of content.articles) {
  article.url = articleUrl(article.slug);
  article.day = formatDay(article.publishedAt);
  article.html = scrollable(article.contentHtml);
  article.jsonLd = structuredData(article);
}

export default { url: SITE, name: SITE_NAME, language: LANGUAGE, labels: LABELS, icon: ICON_URL, ...content };
