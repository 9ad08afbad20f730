/** `/api/openapi.json`, and a page to browse it at `/documentation` that loads nothing from any other host. */
import page from "@fastify/swagger-ui";
import type { Server } from "../app.ts";

const PATH = "/documentation";

/** Only what this server sends itself; styles are set by the page's own scripts. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

export function addPage(app: Server): void {
  app.register(page, {
    routePrefix: PATH,
    staticCSP: POLICY,
    uiConfig: { layout: "BaseLayout", deepLinking: true, docExpansion: "none", defaultModelsExpandDepth: 0 },
    theme: { title: "Uniknode API" },
  });
  app.get("/api/openapi.json", { schema: { hide: true } }, () => app.swagger());
  app.get("/api/v2/openapi.json", { schema: { hide: true } }, () => app.swagger());
}
