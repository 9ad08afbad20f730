/** The document, and a page to browse it at `/documentation` that loads nothing from any other host. */
import swaggerPage from "@fastify/swagger-ui";
import type { FastifyInstance, RouteOptions } from "fastify";
import { createDescribed } from "./document.ts";

const PATH = "/documentation";

/** Allows files of this server only; the scripts of the page set styles. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** Adds a viewport for phones and a label for screen readers, which the page lacks. */
const SCRIPT = `
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
const STYLE = `
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

export type Documentation = {
  /** Bytes of the document. */
  readonly document: Buffer;
  /** Serves the paths of the page. */
  readonly page: FastifyInstance;
};

export async function createDocumentation(routes: readonly RouteOptions[]): Promise<Documentation> {
  const page = createDescribed(routes);
  page.register(swaggerPage, {
    routePrefix: PATH,
    staticCSP: POLICY,
    uiConfig: {
      layout: "BaseLayout",
      deepLinking: true,
      docExpansion: "none",
      defaultModelsExpandDepth: 0,
    },
    theme: {
      title: "Uniknode API",
      js: [{ filename: "uniknode.js", content: SCRIPT }],
      css: [{ filename: "uniknode.css", content: STYLE }],
    },
  });
  await page.ready();
  return { document: Buffer.from(JSON.stringify(page.swagger())), page };
}
