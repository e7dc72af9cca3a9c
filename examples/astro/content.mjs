// Read the API once for all pages.
import { readContent } from "./articles.mjs";

export const content = readContent();
