// Print the day, the slug and the number of structured data's nodes of each article.
import { readArticles } from "./articles.mjs";

const timeZone = process.env.SITE_TIMEZONE || "UTC";
const dayFormat = new Intl.DateTimeFormat("sv-SE", { timeZone }); // Sweden writes dates as 2026-01-31.

process.on("uncaughtException", (error) => {
  console.error(error.message);
  process.exit(1);
});

for await (const { slug, publishedAt, schemaMarkup } of readArticles({ orderBy: "title", order: "asc" })) {
  console.log(dayFormat.format(new Date(publishedAt)), slug, schemaMarkup["@graph"].length);
}
