import { ICON_URL, LABELS, LANGUAGE, SITE, SITE_NAME, exitWith, fetchAll, prepareContent } from "../../articles.mjs";

const content = prepareContent(await fetchAll().catch(({ message }) => exitWith(message)));

export default { url: SITE, name: SITE_NAME, language: LANGUAGE, labels: LABELS, icon: ICON_URL, ...content };
