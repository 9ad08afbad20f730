/** One request: its URL, its body and its options. */

/** Absent members are not sent. */
export type Query = Readonly<Record<string, string | number | bigint | boolean | undefined>>;

export type ApiRequest = {
  /** Default: GET. */
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** Path below the prefix; created with `path`, so that its parts are encoded. */
  readonly path: string;
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The request changes nothing, so it can be sent again. Default: true for GET. */
  readonly isSafe?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * Sends a request to a node; the response can have any status.
 *
 * @throws everything that `fetch` throws, and the reason of the signal
 */
export type Connect = (request: ApiRequest, signal: AbortSignal) => Promise<Response>;

/**
 * Requests of the node at a base URL: `http://127.0.0.1:4003`, with the path of a proxy if there is one.
 *
 * @throws {TypeError} when the URL is none of http or https
 */
export function createConnect(url: string, makeRequest: typeof fetch): Connect {
  const base = readBase(url);
  return ({ method = "GET", path, query = {}, body, headers }, signal) =>
    makeRequest(`${base}/api${path}${queryText(query)}`, {
      method,
      headers: { accept: "application/json", ...(body !== undefined && JSON_BODY), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body, withBigInts) }),
      // fetch would turn a redirected POST into a GET without a body.
      ...(method !== "GET" && { redirect: "manual" }),
      signal,
    });
}

/** The name of a request in messages. */
export const nameOf = ({ method = "GET", path }: ApiRequest): string => `${method} /api${path}`;

/**
 * Joins parts of a path; each value is encoded as one segment.
 *
 * @throws {TypeError} for an empty value, `.` and `..`: the path would be that of another route
 */
export const path = (texts: TemplateStringsArray, ...values: readonly (string | number)[]): string =>
  String.raw({ raw: texts }, ...values.map(segmentOf));

function segmentOf(value: string | number): string {
  // URLs remove segments of dots, encoded or not.
  if (/^\.{0,2}$/.test(`${value}`)) {
    throw argumentError(`an id, a name or a key is expected, which "${value}" is not`);
  }
  return encodeURIComponent(value);
}

/** The error for an argument from which no request can be built. */
export const argumentError = (message: string): TypeError =>
  Object.assign(new TypeError(message), { code: "API_ARGUMENT", isRetryable: false });

const JSON_BODY = { "content-type": "application/json" };

function readBase(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw argumentError(`"url" must be the base URL of a node, such as http://127.0.0.1:4003; got ${text}`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

function queryText(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(`${value}`)}`],
  );
  return given.length === 0 ? "" : `?${given.join("&")}`;
}

/** The API accepts numbers of any size as text. */
const withBigInts = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? `${value}` : value;
