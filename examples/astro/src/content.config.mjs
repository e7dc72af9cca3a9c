// Read the API at the beginning of each build.
import { defineCollection } from "astro:content";
import { exitWith, fetchAll } from "../articles.mjs";

const loader = () => fetchAll().catch(({ message }) => exitWith(message)); // Astro would print a stack trace.

export const collections = { articles: defineCollection({ loader }) };
