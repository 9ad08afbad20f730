/** Compares responses with their description in the OpenAPI document. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { RouteOptions } from "fastify";
import type { Server } from "../../src/http/core/app.ts";
import { createDescribed } from "../../src/http/documentation/document.ts";
import { present } from "../../src/platform/present.ts";

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type Content = { content?: { "application/json": { schema: object } } };

type Parameter = {
  name: string;
  in: "path" | "query";
  required: boolean;
  description?: string;
  schema: Schema;
  example?: Json;
};

export type Operation = {
  operationId: string;
  tags: string[];
  security?: object[];
  summary: string;
  parameters?: Parameter[];
  requestBody?: { content: { "application/json": { schema: Schema } } };
  responses: Record<string, Content>;
};

/** The part of the document that the requests need. */
export type Schema = {
  readonly type?: string;
  readonly enum?: readonly Json[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly examples?: readonly Json[];
};

export type Document = {
  openapi: string;
  info: { license?: object };
  security?: object[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, object>;
    responses: Record<string, Required<Content> & { headers: object }>;
  };
};

/** The recorded routes of each server. */
const recorded = new WeakMap<Server, RouteOptions[]>();
const documents = new WeakMap<Server, Document>();

/** Returns the document of a server whose routes were recorded and that is ready. */
export async function documentOf(app: Server): Promise<Document> {
  const known = documents.get(app);
  if (known) return known;
  const server = createDescribed(present(recorded.get(app), "the routes"));
  await server.ready();
  const document = server.swagger() as unknown as Document;
  documents.set(app, document);
  return document;
}

/** Validators of responses by route and status. All servers of a process have the same document; most do not need it. */
const validators = new Map<
  string,
  { readonly isDocumented: boolean; readonly validate?: ValidateFunction }
>();

/** Records the routes of a server that is not ready yet, for `documentOf`. */
export function describeRoutes(app: Server): void {
  const routes: RouteOptions[] = [];
  recorded.set(app, routes);
  app.addHook("onRoute", (route) => void routes.push(route));
}

/** Turns every undocumented response of the server into a failure of the request, and of the test. */
export function checkResponses(app: Server): void {
  describeRoutes(app);
  app.addHook("onSend", async (request, reply, payload) => {
    const fault = await faultOf(app, {
      method: request.method === "HEAD" ? "GET" : request.method,
      url: request.is404 ? undefined : request.routeOptions.url,
      status: reply.statusCode,
      body: payload,
    });
    if (fault === undefined) return payload;
    const text = `${request.method} ${request.url}: ${fault}`;
    reply.code(599);
    return text;
  });
}

type Exchange = { method: string; url: string | undefined; status: number; body: unknown };

/** Describes the mismatch of a response; undefined if there is none, or if the route is not documented. */
export async function faultOf(
  app: Server,
  { method, url, status, body }: Exchange,
): Promise<string | undefined> {
  const path = url?.replace(/^\/api(\/v2)?(?=\/)/, "").replace(/:(\w+)/g, "{$1}");
  if (url === undefined || path === undefined || typeof body !== "string" || status < 200) return undefined;
  const name = [method, path, status].join(" ");
  if (!validators.has(name)) {
    const document = await documentOf(app);
    const operation = document.paths[path]?.[method.toLowerCase()];
    const validate = validatorOf(document, operation?.responses[status]);
    validators.set(name, { isDocumented: operation !== undefined, ...(validate && { validate }) });
  }
  const { isDocumented, validate } = present(validators.get(name));
  if (!isDocumented) return undefined;
  if (!validate) return EVERYWHERE.includes(status) ? undefined : `status ${status} is not described`;
  return validate(JSON.parse(body)) ? undefined : JSON.stringify(validate.errors);
}

/**
 * Statuses that are independent of the route: redirect, not modified, rate limit, media type, internal error.
 */
const EVERYWHERE = [301, 304, 403, 415, 500];

/** The test of the whole document validates its schemas. */
const ajv = new Ajv2020({ strict: false, validateSchema: false });

function validatorOf(document: Document, documented: Content | undefined): ValidateFunction | undefined {
  const schema = documented?.content?.["application/json"].schema;
  if (!schema) return undefined;
  const all = { ...schema, components: document.components };
  return ajv.compile(closed(all) as object);
}

/** Forbids members that the schema does not name, so that none is missing in it. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, closed(member)]));
  const isOpen =
    copy.type === "object" &&
    typeof copy.properties === "object" &&
    Object.keys(copy.properties as object).length > 0;
  return isOpen ? { additionalProperties: false, ...copy } : copy;
}
