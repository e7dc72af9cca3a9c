// Read the API before the build, so that all pages are made from the same articles.
import { writeFile } from "node:fs/promises";
import { exitWith, fetchAll } from "./articles.mjs";

process.on("uncaughtException", (error) => exitWith(error.message));

const content = JSON.stringify(await fetchAll());
await writeFile("content.json", content).catch(({ message }) => exitWith(`content.json: ${message}`));
