// Read articles with generated types: keep what has not changed, and wait while the service is unavailable.
import { setTimeout } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, operations, paths } from "./api.js";

export type Article = components["schemas"]["Article"];
type Query = operations["getArticleList"]["parameters"]["query"];

const { ARTICLES_URL = "", ARTICLES_KEY = "" } = process.env;
const client = createClient<paths>({
  baseUrl: new URL("../..", ARTICLES_URL).href,
  headers: { "x-api-key": ARTICLES_KEY },
});
const keptByUrl = new Map<string, Response>();

client.use({
  onRequest({ request }) {
    const etag = keptByUrl.get(request.url)?.headers.get("ETag");
    if (etag) request.headers.set("If-None-Match", etag);
  },
  async onResponse({ request, response }) {
    for (let tries = 1; response.status === 503 && tries < 5; tries++) {
      await setTimeout(1000 * Number(response.headers.get("Retry-After") ?? 5));
      response = await fetch(request);
    }
    if (response.ok) keptByUrl.set(request.url, response.clone());
    return response.status === 304 ? keptByUrl.get(request.url)?.clone() : response;
  },
});

/** Yield every article that matches the query, or every article, the newest first. */
export async function* readArticles(query: Query = {}): AsyncGenerator<Article> {
  for (let skip = 0, total = 1; skip < total; ) {
    const page = { ...query, take: 100, skip };
    const { data, error, response } = await client.GET("/api/public/v1/articles", { params: { query: page } });
    if (!data) throw new Error(`${error?.code ?? response.status}: ${error?.detail ?? "no articles"}`);
    yield* data.data;
    skip += data.meta.take;
    total = data.meta.take ? data.meta.total : 0;
  }
}
