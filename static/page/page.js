// This page doubles as a reference client: it uses the API exactly as the documentation describes.

const API = new URL("api/public/v1/", document.baseURI); // relative, since the service may be mounted below a path
const TAKE = 12; // cards per page
// The view is in the URL's fragment: #articles?q=tea&skip=12, #article/SLUG or #sitemap. Browsers never send it, so
// the page is a single URL for proxies and caches, and below a path as well.
const DEFAULTS = { q: "", category: undefined, keyword: undefined, orderBy: "publishedAt", order: "desc", skip: "0" };
const FILTERS = { category: "category", keywords: "keyword" }; // field -> parameter
const element = (id) => document.getElementById(id);
const storedKey = {
  get: () => sessionStorage.getItem("key") ?? "",
  set: (value) => sessionStorage.setItem("key", value),
  remove: () => sessionStorage.removeItem("key"),
};
let pendingRequests = new AbortController(); // for the requests of the view being loaded
let shownView = ""; // id of the view's element
let shownRequest = { path: "articles/preview", query: {} };

class ApiError extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

function requestUrl({ path, query }) {
  const url = new URL(path, API);
  url.search = new URLSearchParams(query);
  return url.href;
}

async function fetchJson(path, query = {}) {
  if (!/^[!-~]+$/.test(storedKey.get())) throw new ApiError(401, "The API key is not valid.");
  const response = await fetch(requestUrl({ path, query }), {
    headers: { "x-api-key": storedKey.get() },
    signal: pendingRequests.signal,
  });
  if (response.ok) return response.json();
  const body = await response.json().catch(() => null);
  const detail = body?.detail ?? `The server responded with status ${response.status}.`; // from a proxy
  throw new ApiError(response.status, [detail, ...Object.values(body?.errors ?? {}).flat()].join(" "));
}

/** Return the parameters of the list that the URL contains. */
function listQuery() {
  const parameters = new URLSearchParams(location.hash.match(/^#articles\?(.*)/)?.[1]);
  return Object.fromEntries([...parameters].filter(([name]) => Object.hasOwn(DEFAULTS, name)));
}

/** Return the fragment of the list with these parameters. */
function listHash(query) {
  const entries = Object.entries({ ...DEFAULTS, ...query }); // always in the same order
  const parameters = new URLSearchParams(entries.filter(([name, value]) => value !== DEFAULTS[name]));
  return parameters.size ? `#articles?${parameters}` : "#articles";
}

function createElement(name, properties = {}, ...children) {
  const created = Object.assign(document.createElement(name), properties);
  created.append(...children);
  return created;
}

/** Return the banner image in an array, or an empty array. An image that fails to load removes itself. */
function createBanner(src, properties = {}) {
  return src ? [createElement("img", { alt: "", onerror: ({ target }) => target.remove(), ...properties, src })] : [];
}

/** Return links, separated by commas, that filter the list on display by these values. */
function createFilterLinks(field, values) {
  return [values].flat().filter(Boolean).flatMap((value, index) => [
    index ? ", " : "",
    createElement("a", { href: listHash({ ...listQuery(), [FILTERS[field]]: value, skip: "0" }) }, value),
  ]);
}

function createCard({ title, slug, bannerUrl, publishedAt, readTime, category, keywords }) {
  const link = createElement("a", { href: `#article/${encodeURIComponent(slug)}` }, title);
  const date = new Date(publishedAt).toLocaleDateString("en", { dateStyle: "medium" });
  const facts = `${category && " · "}${date} · ${readTime} min`;
  return createElement(
    "li",
    {},
    ...createBanner(bannerUrl, { loading: "lazy" }),
    createElement("h2", { dir: "auto" }, link),
    createElement("p", {}, ...createFilterLinks("category", category), facts),
    createElement("p", { dir: "auto" }, ...createFilterLinks("keywords", keywords)),
  );
}

async function showArticles() {
  const query = listQuery();
  for (const { name } of element("query").elements) element(name).value = query[name] ?? DEFAULTS[name];
  const request = { path: "articles/preview", query: { ...query, take: TAKE } };
  const { data, meta } = await fetchJson(request.path, request.query);
  if (!data.length && meta.skip) {
    history.replaceState(null, "", listHash({ ...query, skip: "0" })); // the list has become shorter
    return showArticles();
  }
  shownRequest = request;
  element("cards").replaceChildren(...data.map(createCard));
  const filterLinks = Object.values(FILTERS).filter((name) => name in query).map((name) => {
    const text = `${name}: ${query[name] || "none"}`;
    const href = listHash({ ...query, [name]: undefined, skip: "0" });
    return createElement("a", { href, ariaLabel: `${text}, remove this filter` }, `${text} ✕`);
  });
  element("filters").replaceChildren(...filterLinks);
  const end = meta.skip + meta.take;
  element("range").textContent = meta.total ? `${meta.skip + 1} to ${end} of ${meta.total}` : "No articles found.";
  element("previous").hidden = meta.skip === 0;
  element("previous").hash = listHash({ ...query, skip: String(Math.max(0, meta.skip - TAKE)) });
  element("next").hidden = end >= meta.total;
  element("next").hash = listHash({ ...query, skip: String(end) });
}

/** Let links open in a new tab without access to this one, or scroll to a part of the content. */
function adaptLinks(html) {
  const { body } = new DOMParser().parseFromString(`<!doctype html><body>${html}`, "text/html");
  for (const link of body.querySelectorAll("[target], [rel]")) {
    link.removeAttribute("target");
    link.removeAttribute("rel");
  }
  for (const link of body.querySelectorAll("a[href^='#']")) {
    link.setAttribute("href", `about:srcdoc${link.getAttribute("href")}`);
    link.setAttribute("target", "_self");
  }
  return body.innerHTML;
}

/** Keep a frame as tall as its document. */
function fitFrame({ target: frame }) {
  const root = frame.contentDocument.documentElement; // readable from here, though its own scripts never run
  new ResizeObserver(() => (frame.style.height = `${Math.ceil(root.getBoundingClientRect().height)}px`)).observe(root);
}

async function showArticle(slug) {
  const request = { path: "articles", query: { slug } };
  const { data } = await fetchJson(request.path, request.query);
  if (!data.length) throw new ApiError(404, `No published article has the slug “${slug}”.`);
  shownRequest = request;
  const { title, bannerUrl, contentHtml, schemaMarkup, ...fields } = data[0];
  element("article-title").textContent = title;
  element("banner").replaceChildren(...createBanner(bannerUrl));
  const styles = document.querySelector("link[rel=stylesheet]").href;
  const head = `<!doctype html><meta charset="utf-8"><base target="_blank"><link rel="stylesheet" href="${styles}">`;
  const frame = element("content").cloneNode(); // navigating the existing frame would add a history entry
  frame.srcdoc = `${head}<body class="content" dir="auto">${adaptLinks(contentHtml)}`;
  frame.addEventListener("load", fitFrame);
  element("content").replaceWith(frame);
  const rows = Object.entries({ ...fields, bannerUrl }).flatMap(([name, value]) => [
    createElement("dt", {}, name),
    createElement("dd", { dir: "auto" }, ...(name in FILTERS ? createFilterLinks(name, value) : [String(value)])),
  ]);
  element("fields").replaceChildren(...rows);
  element("markup").textContent = JSON.stringify(schemaMarkup, null, 2);
}

const escapeXml = (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

async function showSitemap() {
  URL.revokeObjectURL(element("download").href);
  element("download").removeAttribute("href"); // prevents downloading the previous file while this one loads
  const { data } = await fetchJson("sitemap");
  shownRequest = { path: "sitemap", query: {} };
  const isValid = element("site").checkValidity();
  element("download").hidden = !isValid;
  if (!isValid) {
    element("xml").textContent = "Enter an absolute URL, such as https://www.example.com/articles/";
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
  element("download").href = URL.createObjectURL(new Blob([xml], { type: "application/xml" }));
}

/** Return sample code that sends the current view's request with this key. */
function codeSample(language, apiKey) {
  const url = requestUrl(shownRequest);
  const [quotedUrl, quotedKey] = [JSON.stringify(url), JSON.stringify(apiKey)];
  const quotePhp = (text) => `'${text.replace(/[\\']/g, "\\$&")}'`;
  return {
    curl: `curl -H '${`x-api-key: ${apiKey}`.replaceAll("'", "'\\''")}' ${quotedUrl}`,
    JavaScript: `const response = await fetch(
  ${quotedUrl},
  { headers: { "x-api-key": ${quotedKey} } },
);
if (!response.ok) throw new Error((await response.json()).detail);
const { data } = await response.json();
console.log(data);`,
    Python: `import json
from urllib.request import Request, urlopen

request = Request(
    ${quotedUrl},
    headers={"x-api-key": ${quotedKey}},
)
with urlopen(request) as response:
    data = json.load(response)["data"]
print(data)`,
    PHP: `<?php
$context = stream_context_create(["http" => [
    "header" => ${quotePhp(`x-api-key: ${apiKey}`)},
]]);
$json = file_get_contents(${quotePhp(url)}, false, $context);
$data = json_decode($json, true)["data"];
print_r($data);`,
  }[language];
}

function showCode() {
  element("copied").textContent = "";
  element("snippet").textContent = codeSample(element("language").value, "YOUR_KEY");
}

function showView(id) {
  shownView = id;
  element("status").textContent = id === "articles" ? element("range").textContent : "";
  document.title = document.querySelector(`h1#${id}, #${id} h1`).textContent;
  for (const view of ["key-form", "articles", "article", "sitemap", "failed"]) element(view).hidden = view !== id;
  document.querySelector("nav").hidden = id === "key-form";
  element("code").hidden = ["key-form", "failed"].includes(id);
  const current = `#${id === "article" ? "articles" : id}`;
  for (const link of document.querySelectorAll("nav a")) link.ariaCurrent = link.hash === current ? "page" : null;
}

function showKeyForm() {
  showView("key-form");
  element("key").focus();
}

/** Show an error: above the view if that is on display, otherwise instead of it. Articles are always replaced. */
function showError(name, { status, message }) {
  element("error-message").textContent = status ? message : "The server is unreachable.";
  element("error").hidden = false;
  element("retry").hidden = [400, 401, 404].includes(status); // the same request fails again
  element("error").scrollIntoView({ block: "nearest" });
  if (status === 401) {
    storedKey.remove();
    showKeyForm();
  } else {
    if (name !== shownView || name === "article") showView("failed");
    if (document.activeElement === document.body || shownView === "failed") element("main").focus();
  }
}

function decodeSlug(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Load and show the view in the URL's fragment. Aborts pending requests. */
async function show({ focus = false } = {}) {
  pendingRequests.abort();
  pendingRequests = new AbortController();
  const { signal } = pendingRequests;
  if (!storedKey.get()) return showKeyForm();
  const [, name, slug] = location.hash.match(/^#(article|sitemap)(?:\/(.*))?$/) ?? [null, "articles"];
  try {
    await { articles: showArticles, sitemap: showSitemap, article: () => showArticle(decodeSlug(slug ?? "")) }[name]();
    element("error").hidden = true;
    const isOtherView = shownView && shownView !== name;
    showView(name);
    showCode();
    const usedLink = element("cards").querySelector(`a[href="${history.state}"]`);
    if (focus || isOtherView) (usedLink ?? element(`${name}-title`)).focus();
  } catch (error) {
    if (!signal.aborted) showError(name, error);
  }
}

element("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  storedKey.set(element("key").value.trim());
  element("key").value = "";
  show({ focus: true });
});
element("forget").addEventListener("click", () => {
  storedKey.remove();
  history.replaceState(null, "", location.pathname);
  location.reload(); // clears everything loaded with the key
});
element("query").addEventListener("input", ({ target }) => {
  const hash = listHash({ ...listQuery(), ...Object.fromEntries(new FormData(element("query"))), skip: "0" });
  const state = target.id === "q" ? "typing" : null; // a search is one entry in the history, not one per keystroke
  history[state && state === history.state ? "replaceState" : "pushState"](state, "", hash);
  show();
});
element("query").addEventListener("submit", (event) => event.preventDefault());
element("cards").addEventListener("click", ({ target }) => {
  const link = target.closest("a");
  if (link) history.replaceState(link.hash, ""); // the link to focus when the user comes back
});
element("retry").addEventListener("click", () => show({ focus: true }));
element("site").addEventListener("input", () => show());
element("site-form").addEventListener("submit", (event) => event.preventDefault());
element("language").addEventListener("change", showCode);
element("copy").addEventListener("click", async () => {
  const request = shownRequest;
  const text = codeSample(element("language").value, storedKey.get());
  try {
    await navigator.clipboard.writeText(text);
    element("copied").textContent = "Copied.";
  } catch {
    if (request !== shownRequest) return; // the user has moved on to another view
    // The clipboard requires a secure context (https or localhost) and the user's permission.
    element("snippet").textContent = text;
    getSelection().selectAllChildren(element("snippet"));
    element("copied").textContent = "Code selected. Press Ctrl+C or ⌘C to copy it.";
  }
});
for (const link of document.querySelectorAll(".skip")) {
  link.addEventListener("click", (event) => {
    event.preventDefault(); // the fragment is used for the view
    document.querySelector(link.hash).focus();
  });
}
addEventListener("popstate", () => show({ focus: true })); // Back, Forward, or a link, even one to the current view
addEventListener("pageshow", ({ persisted }) => (persisted && !storedKey.get() ? location.reload() : show()));
