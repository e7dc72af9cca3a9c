// Print the day, the slug and the number of structured data nodes of each article.
import { exitWith, readAll } from "./articles.mjs";

process.on("uncaughtException", (error) => exitWith(error.message));

const dayFormat = readDayFormat();

function readDayFormat() {
  try {
    // Sweden writes dates as 2026-01-31.
    return new Intl.DateTimeFormat("sv-SE", { timeZone: process.env.SITE_TIMEZONE || "UTC" });
  } catch {
    return exitWith("SITE_TIMEZONE is invalid. Set it to a time zone, such as Europe/Berlin.");
  }
}

for (const { slug, publishedAt, schemaMarkup } of await readAll({ orderBy: "title", order: "asc" })) {
  console.log(dayFormat.format(new Date(publishedAt)), slug, schemaMarkup["@graph"].length);
}
