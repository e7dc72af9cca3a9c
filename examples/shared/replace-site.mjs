// Replace a site with a newly built one, file by file: node replace-site.mjs BUILT SITE
import { copyFile, mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, extname, join, relative, sep } from "node:path";

const [built, site] = process.argv.slice(2);

process.on("uncaughtException", ({ message }) => {
  console.error(message); // It names the file.
  process.exit(1);
});

async function listFiles(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)));
}

/** Return a file's rank: assets first, then articles, lists, and last the feed and the sitemap. */
function rank(name) {
  if (extname(name) === ".html") return name.startsWith(`articles${sep}`) ? 1 : 2;
  return extname(name) === ".xml" ? 3 : 0;
}

const files = (await listFiles(built)).sort((first, second) => rank(first) - rank(second));
for (const name of files) {
  const path = join(site, name);
  await mkdir(dirname(path), { recursive: true });
  await copyFile(join(built, name), `${path}.new`);
  await rename(`${path}.new`, path);
}
const kept = new Set(files);
for (const name of await listFiles(site)) {
  if (kept.has(name)) continue;
  await rm(join(site, name));
  await rmdir(dirname(join(site, name))).catch(() => {}); // The folder stays if it is not empty.
}
console.log(`Articles in ${site}: ${files.filter((name) => rank(name) === 1).length}`);
