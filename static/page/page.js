// The reference client of the API: what it asks, and how it pages, is what the documentation describes.

const API = new URL("/api/public/v1/", location.origin);
const TAKE = 12; // cards on a page
const element = (id) => document.getElementById(id);
const key = {
  get: () => sessionStorage.getItem("key") ?? "",
  set: (value) => sessionStorage.setItem("key", value),
  forget: () => sessionStorage.removeItem("key"),
};
let view = new AbortController(); // of the requests of the view that is asked for
let skip = 0; // of the page of articles that is asked for
let shownSkip = 0; // of the one that is shown
let visible = ""; // the id of the view
let shown = { path: "articles/preview", query: {} }; // the request behind the view

class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

function addressOf({ path, query }) {
  const address = new URL(path, API);
  address.search = new URLSearchParams(query);
  return address.href;
}

async function ask(path, query = {}) {
  if (!/^[!-~]+$/.test(key.get())) throw new Problem(401, "The API key is not valid.");
  const response = await fetch(addressOf({ path, query }), {
    headers: { "x-api-key": key.get() },
    signal: view.signal,
  });
  if (response.ok) return response.json();
  const body = await response.json().catch(() => null);
  const detail = body?.detail ?? `The server answered ${response.status}.`; // a proxy did
  throw new Problem(response.status, [detail, ...Object.values(body?.errors ?? {}).flat()].join(" "));
}

/** Give each page of articles that match, with its request, until skip plus what came reaches the total. */
async function* everyPage(query) {
  for (let seen = 0, total = 1; seen < total; ) {
    const request = { path: "articles", query: { ...query, take: 100, skip: seen } };
    const { data, meta } = await ask(request.path, request.query);
    yield { data, request };
    seen += meta.take;
    total = meta.take ? meta.total : 0;
  }
}

function make(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const day = (timestamp) => new Date(timestamp).toLocaleDateString("en", { dateStyle: "medium" });

function card({ title, slug, bannerUrl, publishedAt, readTime, category, keywords }) {
  const link = make("a", { href: `#article/${encodeURIComponent(slug)}` }, title);
  const about = [category, day(publishedAt), `${readTime} min`].filter(Boolean).join(" · ");
  const item = make("li", {}, make("h2", { dir: "auto" }, link), make("p", {}, about), make("p", { dir: "auto" }, keywords.join(", ")));
  if (bannerUrl) item.prepend(make("img", { src: bannerUrl, alt: "", loading: "lazy", referrerPolicy: "no-referrer" }));
  return item;
}

async function showArticles() {
  const query = { ...Object.fromEntries(new FormData(element("query"))), take: TAKE, skip };
  if (!query.q) delete query.q;
  const { data, meta } = await ask("articles/preview", query);
  if (!data.length && skip) {
    skip = 0; // there are fewer now
    return showArticles();
  }
  shown = { path: "articles/preview", query };
  shownSkip = skip;
  element("cards").replaceChildren(...data.map(card));
  const end = meta.skip + meta.take;
  element("range").textContent = meta.total ? `${meta.skip + 1} to ${end} of ${meta.total}` : "No article matches.";
  element("previous").disabled = meta.skip === 0;
  element("next").disabled = end >= meta.total;
}

/** Give an article, and the request that finds it. */
async function find(slug) {
  const possible = slug && [...slug].length <= 200 && !slug.includes("\0");
  for await (const { data, request } of possible ? everyPage({ q: slug }) : []) {
    const article = data.find((each) => each.slug === slug);
    if (article) return { article, request };
  }
  throw new Problem(404, "This article is not published.");
}

/** Give HTML whose links all follow the target of the page that it stands in. */
function withoutTargets(html) {
  if (!/target/i.test(html)) return html;
  const { body } = new DOMParser().parseFromString(`<!doctype html><body>${html}`, "text/html");
  for (const each of body.querySelectorAll("[target]")) each.removeAttribute("target");
  return body.innerHTML;
}

async function showArticle(slug) {
  const { article, request } = await find(slug);
  shown = request;
  const { title, bannerUrl, contentHtml, schemaMarkup, ...fields } = article;
  element("article-title").textContent = title;
  element("banner").hidden = !bannerUrl;
  if (bannerUrl) element("banner").src = bannerUrl;
  const head = '<!doctype html><meta charset="utf-8"><base target="_blank"><link rel="stylesheet" href="/static/page/page.css">';
  const frame = element("content").cloneNode(); // a new one, for each that an old one shows is a step back in history
  frame.srcdoc = `${head}<body class="content" dir="auto">${withoutTargets(contentHtml)}`;
  element("content").replaceWith(frame);
  const rows = Object.entries({ ...fields, bannerUrl }).flatMap(([name, value]) => [
    make("dt", {}, name),
    make("dd", { dir: "auto" }, Array.isArray(value) ? value.join(", ") : String(value)),
  ]);
  element("fields").replaceChildren(...rows);
  element("markup").textContent = JSON.stringify(schemaMarkup, null, 2);
}

const escapeXml = (text) => text.replace(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);

async function showSitemap() {
  const { data } = await ask("sitemap");
  shown = { path: "sitemap", query: {} };
  const valid = element("site").checkValidity();
  element("download").hidden = !valid;
  if (!valid) {
    element("xml").textContent = "Give the whole address, as in https://www.example.com/articles/";
    return;
  }
  const base = new URL(element("site").value).href;
  const entries = data.map(({ url, lastmod }) => `  <url><loc>${escapeXml(base + encodeURIComponent(url))}</loc><lastmod>${lastmod}</lastmod></url>`);
  const xml = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    ...entries,
    "</urlset>\n",
  ].join("\n");
  element("xml").textContent = xml;
  URL.revokeObjectURL(element("download").href);
  element("download").href = URL.createObjectURL(new Blob([xml], { type: "application/xml" }));
}

/** Give the request of the view as code, with this key or a placeholder. */
function code(language, apiKey) {
  const address = addressOf(shown);
  const [quoted, quotedKey] = [JSON.stringify(address), JSON.stringify(apiKey)];
  const single = (text) => `'${text.replace(/[\\']/g, "\\$&")}'`;
  return {
    curl: `curl -H '${`x-api-key: ${apiKey}`.replaceAll("'", "'\\''")}' ${quoted}`,
    JavaScript: `const response = await fetch(
  ${quoted},
  { headers: { "x-api-key": ${quotedKey} } },
);
if (!response.ok) throw new Error((await response.json()).detail);
const { data } = await response.json();
console.log(data);`,
    Python: `import json
from urllib.request import Request, urlopen

request = Request(
    ${quoted},
    headers={"x-api-key": ${quotedKey}},
)
with urlopen(request) as response:
    data = json.load(response)["data"]
print(data)`,
    PHP: `<?php
$context = stream_context_create(["http" => [
    "header" => ${single(`x-api-key: ${apiKey}`)},
]]);
$json = file_get_contents(${single(address)}, false, $context);
$data = json_decode($json, true)["data"];
print_r($data);`,
  }[language];
}

function showCode() {
  element("copied").textContent = "";
  element("snippet").textContent = code(element("language").value, "YOUR_KEY");
}

function reveal(id) {
  visible = id;
  element("status").textContent = id === "articles" ? element("range").textContent : "";
  document.title = document.querySelector(`h1#${id}, #${id} h1`).textContent;
  for (const each of ["key-form", "articles", "article", "sitemap", "failed"]) element(each).hidden = each !== id;
  document.querySelector("nav").hidden = id === "key-form";
  element("code").hidden = ["key-form", "failed"].includes(id);
  for (const link of document.querySelectorAll("nav a")) {
    const current = link.hash === `#${id === "article" ? "articles" : id}`;
    current ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
}

function askForKey() {
  reveal("key-form");
  element("key").focus();
}

/** Tell what went wrong with a view: above it where it stands there already, and is no other article; else instead. */
function showProblem(name, { status, message }) {
  element("reason").textContent = status ? message : "The server cannot be reached.";
  element("problem").hidden = false;
  element("again").hidden = status === 401 || (status === 404 && name === "article");
  element("problem").scrollIntoView({ block: "nearest" });
  if (status === 401) {
    key.forget();
    askForKey();
  } else {
    if (name !== visible || name === "article") reveal("failed");
    if (document.activeElement === document.body || visible === "failed") element("main").focus();
  }
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** Show the view that the address names, and drop what is still asked for an earlier one. */
async function show({ focus = false } = {}) {
  view.abort();
  view = new AbortController();
  const { signal } = view;
  if (!key.get()) return askForKey();
  const [, name, slug] = location.hash.match(/^#(article|sitemap)(?:\/(.*))?$/) ?? [null, "articles"];
  try {
    await { articles: showArticles, sitemap: showSitemap, article: () => showArticle(decoded(slug ?? "")) }[name]();
    element("problem").hidden = true;
    const another = visible && visible !== name;
    reveal(name);
    showCode();
    if (focus || another) element(`${name}-title`).focus();
  } catch (problem) {
    if (!signal.aborted) showProblem(name, problem);
  }
}

function turn(pages) {
  skip = Math.max(0, shownSkip + pages * TAKE);
  show({ focus: true });
}

element("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  key.set(element("key").value.trim());
  element("key").value = "";
  show({ focus: true });
});
element("forget").addEventListener("click", () => {
  key.forget();
  history.replaceState(null, "", "/");
  location.reload(); // and all that was shown is gone
});
element("query").addEventListener("input", () => {
  skip = 0;
  shownSkip = -TAKE; // what is shown is of another query
  show();
});
element("query").addEventListener("submit", (event) => event.preventDefault());
element("previous").addEventListener("click", () => turn(-1));
element("next").addEventListener("click", () => turn(1));
element("again").addEventListener("click", () => show({ focus: true }));
element("site").addEventListener("input", () => show());
element("site-form").addEventListener("submit", (event) => event.preventDefault());
element("language").addEventListener("change", showCode);
element("copy").addEventListener("click", async () => {
  const request = shown;
  const text = code(element("language").value, key.get());
  try {
    await navigator.clipboard.writeText(text);
    element("copied").textContent = "Copied.";
  } catch {
    if (request !== shown) return; // another view is shown by now
    // Browsers lend the clipboard to https and to this machine alone, and their users may refuse.
    element("snippet").textContent = text;
    getSelection().selectAllChildren(element("snippet"));
    element("copied").textContent = "Selected, for you to copy.";
  }
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address names the view
  element("main").focus();
});
addEventListener("hashchange", () => {
  skip = Math.max(0, shownSkip);
  show({ focus: true });
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("nav a");
  if (link?.hash && link.hash === location.hash) show({ focus: true }); // the address does not change
});
addEventListener("pageshow", ({ persisted }) => (persisted && !key.get() ? location.reload() : show()));
