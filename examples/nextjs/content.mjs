// What fetch-content.mjs has read, for all pages.
import { readFileSync } from "node:fs";
import { prepareContent } from "./articles.mjs";

export const content = prepareContent(JSON.parse(readFileSync("content.json", "utf-8")));
