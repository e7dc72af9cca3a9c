import { ICON_URL, LANGUAGE, SITE, SITE_NAME } from "../../articles.mjs";
import { articleUrl, formatDay, readContent, scrollable, structuredData } from "../../articles.mjs";

export default async function () {
  const { articles, lists } = await readContent();
  for (const article of articles) {
    article.url = articleUrl(article.slug);
    article.day = formatDay(article.publishedAt);
    article.html = scrollable(article.contentHtml);
    article.jsonLd = structuredData(article);
  }
  return { url: SITE, name: SITE_NAME, language: LANGUAGE, icon: ICON_URL, articles, lists };
}
