/**
 * `/api/openapi.json` and `/documentation`, which are built at the first request for either, because few nodes serve them and building
 * them would delay the start; and `GET /`: the console or, without it, a page with the next steps for a browser, and the greeting of
 * the old node for every other client (http-api.md 1.1).
 */

import { createHash } from "node:crypto";
import type { FastifyInstance, RouteOptions } from "fastify";
import { shownVersions } from "../../platform/lifecycle/program.ts";
import type { Server } from "../core/app.ts";

/** Timeout for the files of the page, longer than that of the API because phones load them slowly. */
const FILE_TIMEOUT_MS = 120_000;

/** Headers that the HTTP server sets itself. */
const OF_THE_TRANSPORT = ["connection", "content-length", "date", "keep-alive", "transfer-encoding"];

/** Describes the routes that are added afterwards. */
export function addDocumentation(app: Server): void {
  const routes: RouteOptions[] = [];
  app.addHook("onRoute", (route) => void routes.push(route));
  let made: Promise<Documentation> | undefined;
  function documentation(): Promise<Documentation> {
    made ??= createDocumentation(routes);
    return made;
  }

  for (const path of ["/api/openapi.json", "/api/v2/openapi.json"]) {
    app.get(path, { schema: { hide: true } }, async (_request, reply) => {
      const { document } = await documentation();
      return reply.type("application/json; charset=utf-8").send(document);
    });
  }
  for (const path of ["/documentation", "/documentation/", "/documentation/*"]) {
    app.get(path, { schema: { hide: true }, handlerTimeout: FILE_TIMEOUT_MS }, async (request, reply) => {
      const { page } = await documentation();
      const { statusCode, headers, rawPayload } = await page.inject({
        url: request.url,
        headers: request.headers,
      });
      if (statusCode === 404) return reply.callNotFound();
      for (const [name, value] of Object.entries(headers)) {
        if (value !== undefined && !OF_THE_TRANSPORT.includes(name)) reply.header(name, value);
      }
      return reply.code(statusCode).send(rawPayload.length > 0 ? rawPayload : undefined);
    });
  }
}

/** Allows files of this server only; the scripts of the page set styles. */
const BROWSER_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** Adds a viewport for phones and a label for screen readers, which the page lacks. */
const BROWSER_SCRIPT = `
const viewport = document.createElement("meta");
viewport.name = "viewport";
viewport.content = "width=device-width, initial-scale=1";
document.head.append(viewport);
const page = document.getElementById("swagger-ui");
new MutationObserver(() => page.querySelector("#servers")?.setAttribute("aria-label", "Server")).observe(page, {
  childList: true,
  subtree: true,
});
`;

/** Colours with enough contrast, and tables that scroll on a narrow page. */
const BROWSER_STYLE = `
.swagger-ui { overflow-wrap: anywhere; }
.swagger-ui .info .title small.version-stamp { background-color: #4b6b00; }
.swagger-ui .info .link, .swagger-ui .info a { color: #1f5fa8; }
.swagger-ui .btn.authorize, .swagger-ui .btn.authorize span { color: #14724a; border-color: #14724a; }
.swagger-ui .btn.authorize svg { fill: #14724a; }
.swagger-ui .btn.cancel, .swagger-ui .try-out__btn.cancel { color: #b3261e; border-color: #b3261e; }
.swagger-ui .btn.execute { background-color: #1f5fa8; border-color: #1f5fa8; }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background-color: #1f5fa8; }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background-color: #14724a; }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background-color: #8a5300; }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background-color: #b3261e; }
.swagger-ui .download-contents, .swagger-ui .copy-to-clipboard { background-color: #565b6b; }
.swagger-ui .parameter__in { color: #565b6b; }
.swagger-ui .microlight span { color: #f2a3a3 !important; }
@media (max-width: 640px) {
  .swagger-ui .responses-inner, .swagger-ui .parameters-container { overflow-x: auto; }
}
`;

type Documentation = {
  /** Bytes of the document. */
  readonly document: Buffer;
  /** Serves the paths of the page. */
  readonly page: FastifyInstance;
};

/** Builds the document, and a page to browse it that loads nothing from any other host. */
async function createDocumentation(routes: readonly RouteOptions[]): Promise<Documentation> {
  const [{ createDescribed }, { default: swaggerPage }] = await Promise.all([
    import("./document.ts"),
    import("@fastify/swagger-ui"),
  ]);
  const page = createDescribed(routes);
  page.register(swaggerPage, {
    routePrefix: "/documentation",
    staticCSP: BROWSER_POLICY,
    uiConfig: {
      layout: "BaseLayout",
      deepLinking: true,
      docExpansion: "none",
      defaultModelsExpandDepth: 0,
    },
    theme: {
      title: "Uniknode API",
      js: [{ filename: "uniknode.js", content: BROWSER_SCRIPT }],
      css: [{ filename: "uniknode.css", content: BROWSER_STYLE }],
    },
  });
  await page.ready();
  return { document: Buffer.from(JSON.stringify(page.swagger())), page };
}

const GREETING = { data: "Hello World!" };

const STYLE = `
:root { color-scheme: light dark; --ground: #fbfaf7; --text: #1d2421; --quiet: #56605b; --link: #0b5c46; --line: #d9d6cd; --box: #f1efe8; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #141816; --text: #e6e9e4; --quiet: #a3ada7; --link: #7fd1b4; --line: #353c38; --box: #1d2320; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.6 system-ui, sans-serif; }
main { max-width: 44rem; margin: 0 auto; padding: clamp(1.5rem, 8vw, 5rem) 1.25rem; }
h1 { margin: 0; font-size: 2rem; line-height: 1.2; }
h2 { margin: 2.5rem 0 0.5rem; font-size: 1.15rem; }
p { margin: 0.5rem 0; }
.quiet { color: var(--quiet); }
ul { list-style: none; margin: 2rem 0 0; padding: 0; border-top: 1px solid var(--line); }
li { padding: 0.85rem 0; border-bottom: 1px solid var(--line); }
a { color: var(--link); font-weight: 600; }
a:focus-visible { outline: 3px solid var(--link); outline-offset: 3px; border-radius: 2px; }
li span { display: block; color: var(--quiet); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0.75rem 0; padding: 0.9rem 1rem; border: 1px solid var(--line); border-radius: 6px; background: var(--box); font: 0.875rem/1.5 ui-monospace, monospace; }
`;

/** Content security policy: allows only the style of the page itself. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

const LINKS = [
  ["documentation", "Documentation", "All routes, with examples to try."],
  ["api/v2/blockchain", "API", "The newest block and the supply, as JSON. Other paths: the documentation."],
  ["api/openapi.json", "OpenAPI document", "For generated clients and other tools."],
  ["health/ready", "Health", "Whether the node responds, follows the chain and has disk space."],
  [
    "documentation#/Webhooks",
    "Webhooks",
    "How to register a webhook, follow its deliveries, retry and replay them.",
  ],
] as const;

/** Adds the page; must be called after all other routes are added, because the page links to them. */
export function addLanding(app: Server, networkName: string, hasConsole: boolean): void {
  let page: string | undefined;
  // The default check of balancers.
  app.options("/", { schema: { hide: true } }, (_request, reply) => reply.code(204).send());
  app.get("/", { schema: { hide: true } }, (request, reply) => {
    if (!prefersHtml(request.headers.accept)) return GREETING;
    if (hasConsole) return reply.header("cache-control", "no-store").redirect("/console/", 302);
    const isServed = (path: string) =>
      !path.startsWith("health") || app.hasRoute({ method: "GET", url: `/${path}` });
    page ??= pageOf(
      networkName,
      LINKS.filter(([path]) => isServed(path)),
    );
    // The same address has two contents: caches must not mix them up.
    reply.header("cache-control", "no-store").header("content-security-policy", POLICY);
    return reply.type("text/html; charset=utf-8").send(page);
  });
}

/** Returns whether the header names HTML; clients that accept anything get the greeting of the old node. */
function prefersHtml(accept: string | undefined): boolean {
  return (accept ?? "").split(",").some((entry) => {
    const [type = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    return type === "text/html" && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

const pageOf = (networkName: string, links: readonly (typeof LINKS)[number][]): string => `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Uniknode</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Uniknode</h1>
<p>A node of the network ${escaped(networkName)}.</p>
<p class="quiet">${escaped(shownVersions())}</p>
<ul>
${links.map(([path, name, sentence]) => `<li><a href="${path}">${name}</a><span>${sentence}</span></li>`).join("\n")}
</ul>
<h2>See events as they happen</h2>
<p>On the machine of the node, with the token that the first command shows:</p>
<pre><code>uniknode token
uniknode listen --event "block.*"</code></pre>
</main>
</body>
</html>
`;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
