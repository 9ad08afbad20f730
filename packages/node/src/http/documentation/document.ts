/** The OpenAPI document, made of the schemas by which requests are checked. */
import swagger from "@fastify/swagger";
import type { FastifyContextConfig, FastifySchema } from "fastify";
import type { Server } from "../server/app.ts";
import { ErrorBody } from "../server/error.ts";
import { named } from "./named.ts";
import { OPERATION_IDS } from "./operation-ids.ts";
import { TAGS } from "./route.ts";
import { type Schema, shown } from "./shown.ts";
import { streamRoutes } from "./stream.ts";
import { webhookRoutes } from "./webhooks.ts";

/** Paths of the document are relative to it; the other prefix serves the same. */
const PREFIX = "/api/v2";
const OTHER_PREFIX = "/api";

/** Of routes that read their requests by themselves. */
const ROUTES = { ...webhookRoutes, ...streamRoutes };

const INFO = {
  title: "Uniknode",
  version: "2",
  description:
    "Public API of a node of the Unikname Network. Amounts are decimal text of the smallest unit, 10^-8, except where an integer is said.",
  license: { name: "MIT", identifier: "MIT" },
};

/** Lets `app.swagger()` answer the document. To be called before routes are added. */
export function addDocument(app: Server): void {
  app.register(swagger, {
    convertConstToEnum: false,
    hideUntagged: true,
    openapi: {
      openapi: "3.1.0",
      info: INFO,
      servers: [{ url: PREFIX }, { url: OTHER_PREFIX }],
      // What asks for the token says so itself.
      security: [],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: { token: { type: "apiKey", in: "header", name: "Authorization" } },
      },
    },
    transform({ schema, url, route }) {
      if (!url.startsWith(`${PREFIX}/`)) return { schema: { hide: true }, url };
      const path = url.slice(PREFIX.length);
      const name = `${route.method} ${path}`;
      const operationId = OPERATION_IDS[name];
      const described = { ...(operationId && { operationId }), ...(ROUTES[name] ?? schema) };
      return {
        schema: shown(withFailures(described, `${route.method}`, route.config)) as FastifySchema,
        url,
      };
    },
    transformObject: (document) =>
      named("openapiObject" in document ? (document.openapiObject as Schema) : {}),
  });
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether it may answer 404; where its path names something, unless the route says otherwise. */
    mayMiss?: boolean;
  }
}

const failure = (description: string) => ({ ...ErrorBody, "x-response-description": description });

/** Of those with the token of the node, which ask for a Content-Type. */
const BODY_METHODS = new Set(["POST", "PUT"]);

/** What a route may answer besides success. */
const withFailures = (
  { response, ...described }: FastifySchema,
  method: string,
  { invalidStatus = 422, mayMiss = described.params !== undefined }: FastifyContextConfig = {},
): FastifySchema => ({
  ...described,
  response: {
    ...Object.fromEntries(
      Object.entries(response ?? {}).map(([status, answer]) => [
        status,
        { "x-response-description": "Success.", ...answer },
      ]),
    ),
    400: failure("The request cannot be read: its headers, or the encoding of its path."),
    ...((described.querystring ?? described.params ?? described.body) !== undefined && {
      [invalidStatus]: failure("A parameter or the body is not understood."),
    }),
    ...(described.body !== undefined && {
      408: failure("The body did not arrive in time."),
      422: failure("The body cannot be read, or is not understood."),
    }),
    ...(described.security &&
      BODY_METHODS.has(method) && { 415: failure("The body is not declared as JSON.") }),
    ...(mayMiss && { 404: failure("There is no such thing.") }),
    429: failure("Too many requests of this client; `retry-after` tells how long to wait."),
    503: failure(
      "The answer would take too long, or the node is starting; `retry-after` tells how long to wait.",
    ),
  },
});
