/** Builds and sends API requests from the form, and reads the response. */
import { quoted } from "../../../components/equivalents.ts";
import type { Operation } from "./openapi.ts";

export type Filled = {
  /** Values by parameter name; empty values are not sent. */
  readonly values: Readonly<Record<string, string>>;
  /** JSON body, for operations that have one. */
  readonly body: string;
};

export type Outcome = {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  /** Time until the complete response. */
  readonly durationMs: number;
  readonly text: string;
  /** True if the response was cut: a stream, or a large response. */
  readonly isCut: boolean;
};

const PREFIX = "/api/v2";
/** Path prefix at which a session replaces the token. */
const OPERATIONS = "/console/operations";
const TIMEOUT_MS = 10_000;
const MAX_CHARACTERS = 300_000;

/** Returns the errors by field name before sending; `body` is the body. */
export function faultsOf({ parameters, body }: Operation, filled: Filled): Readonly<Record<string, string>> {
  const missing = parameters.filter(
    ({ name, required, in: part }) => (required || part === "path") && !filled.values[name]?.trim(),
  );
  const faults = missing.map(({ name }): [string, string] => [name, "Fill in this field."]);
  return Object.fromEntries(
    body && !isJson(filled.body)
      ? [...faults, ["body", "This is not JSON: check quotes, commas and brackets."]]
      : faults,
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns path and query of the public API. */
export function urlOf({ path, parameters }: Operation, { values }: Filled): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name]?.trim() ?? ""));
  const query = new URLSearchParams(
    parameters.flatMap(({ name, in: part }) => {
      const value = values[name]?.trim();
      return part === "query" && value ? [[name, value]] : [];
    }),
  );
  return `${PREFIX}${filled}${query.size > 0 ? `?${query}` : ""}`;
}

/** Builds the curl command. */
export function curlOf(operation: Operation, filled: Filled, origin: string): string {
  const { method, needsToken, body } = operation;
  const parts = [
    method === "GET" ? "curl" : `curl -X ${method}`,
    ...(needsToken ? ['-H "Authorization: $TOKEN"'] : []),
    ...(body ? ['-H "Content-Type: application/json"', `-d ${quoted(filled.body)}`] : []),
    quoted(`${origin}${urlOf(operation, filled)}`),
  ];
  return parts.join(parts.length > 2 ? " \\\n  " : " ");
}

/**
 * Sends the request; operations that require the token use the session.
 *
 * @throws {Error} if there is no response
 */
export async function send(
  makeRequest: typeof fetch,
  operation: Operation,
  filled: Filled,
  timeoutMs = TIMEOUT_MS,
): Promise<Outcome> {
  const { method, body, needsToken } = operation;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeoutMs);
  const begunMs = performance.now();
  try {
    const response = await makeRequest(`${needsToken ? OPERATIONS : ""}${urlOf(operation, filled)}`, {
      method,
      signal: abort.signal,
      ...(body && { headers: { "content-type": "application/json" }, body: filled.body }),
    }).catch(() => {
      throw new Error("The node does not respond. Is it running?");
    });
    const { text, isCut } = await readText(response);
    abort.abort();
    return {
      status: response.status,
      headers: [...response.headers],
      durationMs: performance.now() - begunMs,
      text,
      isCut,
    };
  } finally {
    clearTimeout(timer);
  }
}

/** Reads the response up to the size limit. */
async function readText({ body }: Response): Promise<{ text: string; isCut: boolean }> {
  if (!body) return { text: "", isCut: false };
  let text = "";
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  while (text.length < MAX_CHARACTERS) {
    const part = await reader.read().catch(() => undefined);
    if (!part) return { text, isCut: true };
    if (part.done) return { text, isCut: false };
    text += part.value;
  }
  return { text: text.slice(0, MAX_CHARACTERS), isCut: true };
}

/** Parses JSON and keeps all digits of integers; undefined if the text is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text, keepDigits as never);
  } catch {
    return undefined;
  }
}

const keepDigits = (_name: string, value: unknown, { source = "" }: { source?: string } = {}): unknown =>
  typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
    ? BigInt(source)
    : value;
