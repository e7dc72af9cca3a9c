import { articleUrl, fetchArticles, formatDay, scrollable, structuredData } from "../../articles.mjs";

export default async function () {
  const articles = await fetchArticles();
  return articles.map((article) => ({
    ...article,
    url: articleUrl(article.slug),
    date: formatDay(article.publishedAt),
    html: scrollable(article.contentHtml),
    jsonLd: structuredData(article),
  }));
}
