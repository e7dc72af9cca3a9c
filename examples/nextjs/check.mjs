// Check the variables, the key and the connection before the build, whose errors are longer.
import { exitWith, fetchJson } from "./articles.mjs";

await fetchJson("articles/preview", { take: 1 }).catch((error) => exitWith(error.message));
