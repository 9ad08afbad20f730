/** Headers of a request in the forms that servers provide. */
import { DeliveryError } from "./error.ts";

/** `Headers` of fetch, `request.headers` of Node.js, or any record; letter case does not matter. */
export type DeliveryHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The one value of a header.
 *
 * @throws {DeliveryError} DELIVERY_HEADER_MISSING
 */
export function headerOf(headers: DeliveryHeaders, name: string): string {
  const value = optionalHeaderOf(headers, name);
  if (value !== undefined) return value;
  throw new DeliveryError(
    { code: "DELIVERY_HEADER_MISSING", header: name },
    `the header "${name}" is missing or repeated`,
  );
}

/** The one value of a header; undefined if it is missing or repeated. */
export function optionalHeaderOf(headers: DeliveryHeaders, name: string): string | undefined {
  const value = typeof headers.get === "function" ? headers.get(name) : memberOf(headers, name);
  return typeof value === "string" ? value : undefined;
}

function memberOf(headers: object, name: string): unknown {
  const [, value] = Object.entries(headers).find(([member]) => member.toLowerCase() === name) ?? [];
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}
