// Read articles with generated types: keep what has not changed, and wait while the service is unavailable.
import { setTimeout } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, operations, paths } from "./api.js";

export type Article = components["schemas"]["Article"];
type Query = NonNullable<operations["getArticleList"]["parameters"]["query"]>;

const API_MEANING = "the URL of your service's API, such as http://127.0.0.1:8000/api/public/v1";
const KEY_MEANING = "an API key of your service";

/** Return the first group of the pattern in an environment variable, or exit. */
function readVariable(name: string, pattern: RegExp, meaning: string): string {
  const value = process.env[name] ?? "";
  const group = pattern.exec(value)?.[1];
  return group ?? exitWith(`${name} is ${value ? "invalid" : "missing"}. Set it to ${meaning}.`);
}

/** Print a message without a stack trace, and exit. */
export function exitWith(message: string): never {
  console.error(message);
  process.exit(1);
}

const baseUrl = readVariable("ARTICLES_URL", /^(https?:\/\/[^\s?#]+)\/api\/public\/v1\/*$/, API_MEANING);
const key = readVariable("ARTICLES_KEY", /^([!-~]+)$/, KEY_MEANING);
const client = createClient<paths>({ baseUrl, headers: { "x-api-key": key } });
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

function describe(error: unknown): string {
  if (error instanceof SyntaxError) return `This response is not from the API. Set ARTICLES_URL to ${API_MEANING}.`;
  const { cause, message } = error as Error;
  const reason = cause instanceof Error ? cause.message : message;
  return `${reason}. Start the service, or set ARTICLES_URL to ${API_MEANING}.`;
}

interface Result<Data> {
  data?: Data;
  error?: components["schemas"]["Problem"];
  response: Response;
}

/** Return the data of a response, or throw an error that says what to do. */
async function read<Data extends { data: unknown[] }>(request: Promise<Result<Data>>): Promise<Data> {
  const { data, error, response } = await request.catch((reason: unknown) => {
    throw new Error(`${baseUrl}: ${describe(reason)}`);
  });
  if (data && Array.isArray(data.data)) return data;
  if (!error?.code) throw new Error(`${baseUrl}: ${describe(new SyntaxError())}`);
  const advice = response.status === 401 ? ` Set ARTICLES_KEY to ${KEY_MEANING}.` : "";
  throw new Error(`${baseUrl}: ${error.code}: ${error.detail}${advice}`);
}

/** Yield the articles that match the query, newest first unless it says otherwise. */
export async function* readArticles(query: Query = {}): AsyncGenerator<Article> {
  for (let skip = 0, total = 1; skip < total; ) {
    const params = { query: { ...query, take: 100, skip } };
    const { data, meta } = await read(client.GET("/api/public/v1/articles", { params }));
    yield* data;
    skip += meta.take;
    total = meta.take ? meta.total : 0;
  }
}

/**
 * Return all articles, in the order that the query gives.
 * Pages shift if the list changes while they are read. In that case, they are read again.
 */
export async function readAll(query: Pick<Query, "orderBy" | "order"> = {}): Promise<Article[]> {
  for (let attempt = 1; attempt <= 3; attempt++) {
    const before = await readSlugs();
    const articles: Article[] = [];
    for await (const article of readArticles(query)) articles.push(article);
    const after = await readSlugs();
    const slugs = new Set(articles.map(({ slug }) => slug));
    const isSame = before.size === after.size && [...before].every((slug) => after.has(slug));
    if (isSame && slugs.size === articles.length && [...after].every((slug) => slugs.has(slug))) return articles;
  }
  throw new Error("The articles changed while they were being read, three times in a row. Run the program again.");
}

/** Return the slugs of all articles, from the sitemap. */
async function readSlugs(): Promise<Set<string>> {
  const { data } = await read(client.GET("/api/public/v1/sitemap"));
  return new Set(data.map(({ url }) => url));
}
