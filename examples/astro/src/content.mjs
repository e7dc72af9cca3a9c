// The articles, linked to each other, and their lists.
import { getCollection } from "astro:content";
import { prepareContent } from "../articles.mjs";

const articles = (await getCollection("articles")).map(({ data }) => data);
articles.sort((first, second) => second.publishedAt.localeCompare(first.publishedAt)); // Collections have no order.

export const content = prepareContent(articles);
