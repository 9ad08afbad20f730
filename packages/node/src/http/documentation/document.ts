/** The OpenAPI document, generated from the schemas that validate requests. */
import swagger from "@fastify/swagger";
import {
  type FastifyContextConfig,
  type FastifyInstance,
  type FastifySchema,
  fastify,
  type RouteOptions,
} from "fastify";
import { ErrorBody, isOwnPath } from "../core/error.ts";
import { type Format, formats } from "../requests/parameters.ts";
import { streamRoutes } from "../stream/routes.ts";
import { OPERATION_IDS } from "./operation-ids.ts";
import { TAGS } from "./route.ts";
import { webhookRoutes } from "./webhooks.ts";

/** Paths of the document are relative to this prefix; the other prefix serves the same routes. */
const PREFIX = "/api/v2";
const OTHER_PREFIX = "/api";

/** Schemas of routes that parse their requests themselves. */
const ROUTES = { ...webhookRoutes, ...streamRoutes };

const INFO = {
  title: "Uniknode",
  version: "2",
  description:
    "Public API of a node of the Unikname Network. Amounts are decimal strings in the smallest unit, 10^-8, unless the type is integer.",
  license: { name: "MIT", identifier: "MIT" },
};

/**
 * Creates a server whose `swagger()` returns the document of these routes, each with its full path. The server does not serve
 * them, and is not ready yet: other plugins may be added.
 */
export function createDescribed(routes: readonly RouteOptions[]): FastifyInstance {
  const app = fastify({ exposeHeadRoutes: false });
  app.setValidatorCompiler(() => () => true).setSerializerCompiler(() => () => "");
  app.register(swagger, {
    convertConstToEnum: false,
    hideUntagged: true,
    openapi: {
      openapi: "3.1.0",
      info: INFO,
      servers: [{ url: PREFIX }, { url: OTHER_PREFIX }],
      // Routes that require the token declare it themselves.
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
        schema: documentSchema(withFailures(described, `${route.method}`, route.config)) as FastifySchema,
        url,
      };
    },
    transformObject: (document) =>
      "openapiObject" in document
        ? withOtherMethods(withComponentSchemas(document.openapiObject as Schema))
        : {},
  });
  app.register(async (scope) => {
    for (const { method, url, schema, config } of routes) {
      if (method === "HEAD" || !url.startsWith(`${PREFIX}/`)) continue;
      scope.route({ method, url, ...(schema && { schema }), ...(config && { config }), handler: () => {} });
    }
  });
  return app;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** True if the route may return 404. Default: true if its path has parameters. */
    mayMiss?: boolean;
  }
}

const failure = (description: string) => ({ ...ErrorBody, "x-response-description": description });

/** Methods whose requests require a Content-Type on routes with the token of the node. */
const BODY_METHODS = new Set(["POST", "PUT"]);

/** Returns the description of a response; a route describes its own refusals. */
const outcomeOf = (status: string, schema: unknown): string => {
  const { description } = schema as { readonly description?: string };
  return status.startsWith("2") ? "Success." : (description ?? "Refused.");
};

/** Adds the failures that a route may return. */
const withFailures = (
  { response, ...described }: FastifySchema,
  method: string,
  { invalidStatus = 422, mayMiss = described.params !== undefined }: FastifyContextConfig = {},
): FastifySchema => ({
  ...described,
  response: {
    ...Object.fromEntries(
      Object.entries(response ?? {}).map(([status, schema]) => [
        status,
        { "x-response-description": outcomeOf(status, schema), ...schema },
      ]),
    ),
    400: failure("The headers or the path encoding of the request are invalid."),
    // Every route that reads refuses `at`, or validates it.
    ...((method === "GET" || (described.params ?? described.body) !== undefined) && {
      [invalidStatus]: failure("A parameter or the body is invalid."),
    }),
    ...(described.body !== undefined && {
      408: failure("The body did not arrive in time."),
      422: failure("The body cannot be parsed, or is invalid."),
    }),
    ...(described.security &&
      BODY_METHODS.has(method) && { 415: failure("The body is not declared as JSON.") }),
    ...(mayMiss && { 404: failure("Not found.") }),
    429: failure("Too many requests of this client; wait for the time in `retry-after`."),
    503: failure(
      "The response would take too long, or the node is starting; wait for the time in `retry-after`.",
    ),
  },
});

type Schema = Readonly<Record<string, unknown>>;

const FORMATS_BY_NAME: Readonly<Record<string, Format>> = formats;

/** Removes the texts that repeat a number of the list. */
const valuesOf = (choices: readonly unknown[]): unknown[] =>
  choices.filter(
    (choice) => typeof choice !== "string" || !choices.some((other) => other === Number(choice)),
  );

/** Returns a deep copy in which a value that is sent as text has the schema of the value. Choices that become equal are merged. */
function documentSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(documentSchema);
  if (typeof value !== "object" || value === null) return value;
  const { format, ...rest } = value as Schema;
  const known = typeof format === "string" ? FORMATS_BY_NAME[format] : undefined;
  if (known) return { ...rest, ...known.shown };
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, documentSchema(member)]),
  );
  if (Array.isArray(copy.enum)) return { ...copy, enum: valuesOf(copy.enum) };
  if (!Array.isArray(copy.anyOf)) return copy;
  const { anyOf, ...others } = copy;
  const [first, ...more] = [...new Map(anyOf.map((choice) => [JSON.stringify(choice), choice])).values()];
  return more.length === 0 ? { ...first, ...others } : { ...others, anyOf: [first, ...more] };
}

/**
 * Returns the document with each titled schema moved to its components.
 *
 * @throws {Error} if two different schemas have the same title
 */
function withComponentSchemas(document: Schema): Schema {
  const schemas = new Map<string, string>();
  const values: Record<string, unknown> = {};

  function move(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(move);
    if (typeof value !== "object" || value === null) return value;
    const moved = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, move(member)]));
    if (!isTitledSchema(moved)) return moved;
    const { title, ...schema } = moved;
    const text = JSON.stringify(schema);
    const known = schemas.get(title);
    if (known !== undefined && known !== text) throw new Error(`two schemas are called ${title}`);
    schemas.set(title, text);
    values[title] = schema;
    return { $ref: `#/components/schemas/${title}` };
  }

  const paths = move(document.paths);
  return { ...document, paths, components: { ...(document.components as object), schemas: values } };
}

const isTitledSchema = (value: Schema): value is Schema & { title: string } =>
  typeof value.title === "string" && typeof value.type === "string";

/** Name of the response to a method that a path does not have. */
const OTHER_METHOD = "MethodNotAllowed";

const OTHER_METHOD_RESPONSE = {
  description: "The path does not support this method.",
  headers: {
    Allow: {
      description: "Methods that the path supports.",
      schema: { type: "string", examples: ["GET, HEAD"] },
    },
  },
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
};

/** Adds the response 405 to each operation of a path that the old node did not have; other paths return 404 (http-api.md 1.3). */
function withOtherMethods(document: Schema): Schema {
  const paths = Object.entries(document.paths as Record<string, Record<string, Schema>>).map(
    ([path, operations]) => [path, isOwnPath(`${PREFIX}${path}`) ? with405(operations) : operations],
  );
  const components = {
    ...(document.components as object),
    responses: { [OTHER_METHOD]: OTHER_METHOD_RESPONSE },
  };
  return { ...document, paths: Object.fromEntries(paths), components };
}

const with405 = (operations: Record<string, Schema>): Schema =>
  Object.fromEntries(
    Object.entries(operations).map(([method, operation]) => [
      method,
      {
        ...operation,
        responses: {
          ...(operation.responses as object),
          405: { $ref: `#/components/responses/${OTHER_METHOD}` },
        },
      },
    ]),
  );
