import { allArticles } from "../../all-articles.mjs";
import { renderFeed } from "../../articles.mjs";

export const dynamic = "force-static";

export const GET = async () => new Response(renderFeed((await allArticles).slice(0, 20)));
