// Download the articles' banners to your site.
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { SITE } from "./articles.mjs";

const EXTENSIONS = {
  "image/avif": "avif",
  "image/gif": "gif",
  "image/jpeg": "jpg",
  "image/png": "png",
  "image/svg+xml": "svg",
  "image/webp": "webp",
};

async function downloadBanner(url, folder) {
  const response = await fetch(url, { signal: AbortSignal.timeout(30_000) });
  const type = response.headers.get("content-type")?.split(";")[0];
  if (!response.ok || !EXTENSIONS[type]) throw new Error(`status ${response.status}, type ${type}`);
  const name = `${createHash("sha256").update(url).digest("hex").slice(0, 16)}.${EXTENSIONS[type]}`;
  await writeFile(`${folder}/banners/${name}`, Buffer.from(await response.arrayBuffer()));
  return `${SITE}/banners/${name}`;
}

/** Download the articles' banners, and replace each `bannerUrl`. A banner that cannot be downloaded keeps its URL. */
export async function downloadBanners(articles, folder) {
  await mkdir(`${folder}/banners`, { recursive: true });
  const urls = new Map([["", ""]]);
  for (const article of articles) {
    const url = article.bannerUrl;
    if (!urls.has(url)) {
      const local = await downloadBanner(url, folder).catch(
        (error) => console.warn(`${url}: not downloaded, so pages keep this URL (${error.message})`),
      );
      urls.set(url, local ?? url);
    }
    article.bannerUrl = urls.get(url);
  }
}
