// Read the API before the build, so that all pages are made from the same articles.
import { writeFile } from "node:fs/promises";
import { exitWith, fetchAll } from "./articles.mjs";

process.on("uncaughtException", (error) => exitWith(error.message));

await writeFile("content.json", JSON.stringify(await fetchAll()));
