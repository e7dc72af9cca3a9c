import { allArticles } from "../../all-articles.mjs";
import { renderFeed } from "../../articles.mjs";

export const GET = async () => new Response(renderFeed(await allArticles));
