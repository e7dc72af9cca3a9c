// The articles, newest first.
import { getCollection } from "astro:content";

export const articles = (await getCollection("articles")).map(({ data }) => data);
articles.sort((first, second) => second.publishedAt.localeCompare(first.publishedAt)); // Collections have no order.
