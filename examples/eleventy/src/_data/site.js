import { ICON_URL, LABELS, LANGUAGE, SITE, SITE_NAME, exitWith, fetchAll, prepareContent } from "../../articles.mjs";
import { articleUrl, formatDay, scrollable, structuredData } from "../../articles.mjs";

const content = prepareContent(await fetchAll().catch(({ message }) => exitWith(message)));
for (const article of content.articles) {
  article.url = articleUrl(article.slug);
  article.day = formatDay(article.publishedAt);
  article.html = scrollable(article.contentHtml);
  article.jsonLd = structuredData(article);
}

export default { url: SITE, name: SITE_NAME, language: LANGUAGE, labels: LABELS, icon: ICON_URL, ...content };
