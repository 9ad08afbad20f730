/** Responses to methods that a path does not have, documented on paths where such a request gets 405. */
import { isOwnPath } from "../core/error.ts";
import type { Schema } from "./document-schema.ts";

const NAME = "MethodNotAllowed";

const RESPONSE = {
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
export function withOtherMethods(document: Schema, prefix: string): Schema {
  const paths = Object.entries(document.paths as Record<string, Record<string, Schema>>).map(
    ([path, operations]) => [path, isOwnPath(`${prefix}${path}`) ? with405(operations) : operations],
  );
  const components = { ...(document.components as object), responses: { [NAME]: RESPONSE } };
  return { ...document, paths: Object.fromEntries(paths), components };
}

const with405 = (operations: Record<string, Schema>): Schema =>
  Object.fromEntries(
    Object.entries(operations).map(([method, operation]) => [
      method,
      {
        ...operation,
        responses: { ...(operation.responses as object), 405: { $ref: `#/components/responses/${NAME}` } },
      },
    ]),
  );
