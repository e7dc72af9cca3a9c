// Read the articles once for all pages.
import { fetchArticles } from "./articles.mjs";

export const allArticles = fetchArticles();
