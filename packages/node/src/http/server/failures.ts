/** Responses to failed requests. They never contain internal details of the node (http-api.md 2). */
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { HistoryError } from "../../event-log/history.ts";
import { BodyError } from "../../gateway/gateway.ts";
import { troubleOf } from "../../platform/files/disk.ts";
import { CallError } from "../../platform/threads/call.ts";
import { CursorError, SnapshotError } from "../../read/port.ts";
import { LATE, LateError } from "../connections/bounds.ts";
import type { Server } from "../core/app.ts";
import { CODE_HEADER, errorBody, type Failure, HttpError, isOwnPath } from "../core/error.ts";
import type { ErrorCode } from "../core/error-codes.ts";
import { allowOrigin, COMMON_HEADERS, grant, isPreflight } from "../core/headers.ts";
import { faultsOf } from "./faults.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Status of an invalid request; 422 unless the route sets another. */
    invalidStatus?: 400 | 422;
  }
}

/** An unreadable body gets 422, not a status of its own (http-api.md 1.4). */
const UNREADABLE: Readonly<Record<string, readonly [code: ErrorCode, message: string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: [
    "BODY_TOO_LARGE",
    "Payload content length greater than maximum allowed: 1048576",
  ],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    "UNSUPPORTED_CONTENT_TYPE",
    "Unsupported Media Type: send the body as application/json",
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ["BODY_LENGTH_WRONG", "Request body size did not match Content-Length"],
};

/** Delay after which clients may retry a list that timed out (`read/sqlite/lists/time-box.ts`), or a starting node. */
const RETRY_AFTER_SECONDS = 10;
/** Delay for a block that a replica has not reached: a load balancer may choose another replica. */
const RETRY_REPLICA_AFTER_SECONDS = 1;

export function addFailures(app: Server, logger: Logger, methodsOf: MethodsOf): void {
  app.setErrorHandler<FastifyError | Error | undefined | null>(async (thrown, request, reply) => {
    const error = thrown ?? new Error(`a request handler threw ${thrown}`);
    const isBarred = error instanceof HttpError && error.statusCode === 403;
    // Unknown paths are always 404, even with an invalid body.
    if (request.is404 && !isBarred) return respondToUnknownPath(request, reply, methodsOf(request.url));
    const failure = describe(error, request);
    if (failure.status >= 500 && failure.status !== 503) {
      const { method, routeOptions } = request;
      logger.error({ err: error, method, route: routeOptions.url }, "request failed");
    }
    // The rest of the request is not read.
    if (failure.status === 408) reply.header("connection", "close");
    return respond(failure, request, reply);
  });
}

/** Sets the status, and for 503 also `retry-after`. */
export function withStatus(
  reply: FastifyReply,
  status: number,
  retryAfterSeconds = RETRY_AFTER_SECONDS,
): FastifyReply {
  if (status === 503) reply.header("retry-after", retryAfterSeconds);
  return reply.code(status);
}

function respond(failure: Failure, { url }: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header(CODE_HEADER, failure.code);
  const seconds = failure.code === "REPLICA_BEHIND" ? RETRY_REPLICA_AFTER_SECONDS : RETRY_AFTER_SECONDS;
  return withStatus(reply, failure.status, seconds).send(errorBody(failure, url));
}

/**
 * Responds to a request that no route matches. On paths of the old node, another method counts as an unknown path
 * (http-api.md 1.3); `Allow` still lists the methods.
 */
export function respondToUnknownPath(
  request: FastifyRequest,
  reply: FastifyReply,
  methods: readonly string[],
): FastifyReply {
  const { method, url } = request;
  const [path = ""] = url.split("?", 1);
  const isOwn = isOwnPath(url);
  if (isOtherMethod(request, methods)) {
    const allowed = methods.join(", ");
    reply.header("allow", allowed);
    const message = isOwn ? `${method} is not allowed on ${shown(path)}; allowed: ${allowed}` : "Not Found";
    return respond({ status: isOwn ? 405 : 404, code: "METHOD_NOT_ALLOWED", message }, request, reply);
  }
  const message = isOwn
    ? `No route matches the path ${shown(path)}; /documentation lists all routes`
    : "Not Found";
  // The body is that of the old node.
  if (!isOwn) reply.header("link", '</documentation>; rel="service-doc"');
  return respond({ status: 404, code: "PATH_UNKNOWN", message }, request, reply);
}

const MAX_SHOWN = 100;
const shown = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text);

/** Responds to a request whose path cannot be percent-decoded; such a request does not reach the hooks. */
export function respondToUnroutable(
  _error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  reply.headers(COMMON_HEADERS);
  allowOrigin(request, reply);
  if (isPreflight(request)) grant(request, reply);
  else respond({ status: 400, code: "PATH_ENCODING", message: "Bad Request" }, request, reply);
}

function describe(error: Error & Partial<FastifyError>, request: FastifyRequest): Failure {
  if (error.validation) return describeInvalid(request);
  if (error instanceof CursorError) {
    return describeParameter("cursor", `${error.message}; start again with cursor=start`, request);
  }
  if (error instanceof BodyError) return { status: 422, code: "INVALID_MEMBER", message: error.message };
  // The client caused the timeout.
  if (error instanceof LateError && isWithoutItsBody(request)) {
    return { status: 408, code: "REQUEST_LATE", message: "The body did not arrive in time" };
  }
  if (error instanceof HttpError) {
    return { status: error.statusCode, code: error.code, message: error.message };
  }
  const unstored = UNSTORED[error.code ?? ""];
  if (unstored) return { status: 503, ...unstored };
  const busy = describeBusy(error, request);
  if (busy) return { status: 503, code: busy, message: BUSY[busy] };
  const [code, message] = UNREADABLE[error.code ?? ""] ?? [];
  if (code !== undefined && message !== undefined) return { status: 422, code, message };
  const { statusCode = 500 } = error;
  if (statusCode >= 400 && statusCode < 500) {
    return { status: statusCode, code: "INVALID_HTTP", message: error.message };
  }
  return { status: 500, code: "INTERNAL_ERROR", message: "An internal server error occurred" };
}

const BUSY = {
  DISK_FULL: "Service Unavailable: the disk of the node is full and nothing was stored; retry in 10 s",
  DISK_UNWRITABLE:
    "Service Unavailable: the disk of the node is not writable and nothing was stored; retry in 10 s",
  RESPONSE_LATE: LATE,
  NODE_BUSY: "Service Unavailable: too many requests are in progress; retry in 10 s",
  NODE_UNREACHABLE: "Service Unavailable: no node responds; retry in 10 s",
  NODE_STARTING:
    "Service Unavailable: the node has no block yet, or its mirror is being built; retry in 10 s",
  DATABASE_UNREACHABLE: "Service Unavailable: the database cannot be reached; retry in 10 s",
} as const;

const BUSY_SNAPSHOTS = {
  SNAPSHOT_TIMEOUT: "RESPONSE_LATE",
  SNAPSHOT_ENDED: "RESPONSE_LATE",
  SNAPSHOT_EMPTY: "NODE_STARTING",
  SNAPSHOT_BUSY: "NODE_BUSY",
  SNAPSHOT_UNREACHABLE: "DATABASE_UNREACHABLE",
} as const satisfies Record<SnapshotError["code"], keyof typeof BUSY>;

/** A damaged row is an internal error. */
const BUSY_HISTORIES: Readonly<Record<HistoryError["code"], keyof typeof BUSY | undefined>> = {
  HISTORY_BUILDING: "NODE_STARTING",
  HISTORY_UNREADABLE: "DATABASE_UNREACHABLE",
  HISTORY_DAMAGED: undefined,
};

const PENDING =
  "the accepted transactions are pending and are stored as soon as the disk permits; do not send them again";

/** Errors of `Pool.submit`. */
const UNSTORED: Readonly<Record<string, Pick<Failure, "code" | "message">>> = {
  POOL_DISK_FULL: {
    code: "DISK_FULL",
    message: `Service Unavailable: the disk of the node is full; ${PENDING}`,
  },
  POOL_DISK_UNWRITABLE: {
    code: "DISK_UNWRITABLE",
    message: `Service Unavailable: the disk of the node is not writable; ${PENDING}`,
  },
};

function describeBusy(
  error: Error & Partial<FastifyError>,
  { method }: FastifyRequest,
): keyof typeof BUSY | undefined {
  if (error instanceof SnapshotError) return BUSY_SNAPSHOTS[error.code];
  if (error instanceof HistoryError) return BUSY_HISTORIES[error.code];
  const trouble = troubleOf(error);
  if (trouble === "disk full") return "DISK_FULL";
  // An unreadable disk must be logged as a failure.
  if (trouble && method !== "GET" && method !== "HEAD") return "DISK_UNWRITABLE";
  // Its message names addresses of the network of the operator, which clients must not learn.
  if (error.code === "CALL_UNREACHABLE") return "NODE_UNREACHABLE";
  if (error instanceof CallError || error.code === "POOL_BUSY" || error.statusCode === 503)
    return "NODE_BUSY";
  return undefined;
}

/** Returns whether the announced body of the request did not arrive in time. */
const isWithoutItsBody = ({ body, headers }: FastifyRequest): boolean =>
  body === undefined && (Number(headers["content-length"] ?? 0) > 0 || "transfer-encoding" in headers);

function describeInvalid(request: FastifyRequest): Failure {
  const { source = "query", faults = [] } = faultsOf(request) ?? {};
  const message = faults.map(({ key, reason }) => `"${key || "value"}" ${reason}`).join(", ");
  const status = request.routeOptions.config.invalidStatus ?? 422;
  const failure = { status, code: faults[0]?.code ?? ("INVALID_MEMBER" as const), message };
  return status === 422
    ? failure
    : { ...failure, validation: { source, keys: faults.map(({ key }) => key) } };
}

function describeParameter(name: string, message: string, { routeOptions }: FastifyRequest): Failure {
  const status = routeOptions.config.invalidStatus ?? 422;
  const failure = { status, code: "INVALID_CURSOR" as const, message: `"${name}": ${message}` };
  return status === 422 ? failure : { ...failure, validation: { source: "query", keys: [name] } };
}

/** Returns the methods of the routes that match the path of a URL, in alphabetical order; empty for an unknown path. */
export type MethodsOf = (url: string) => readonly string[];

/** Records the methods of routes; must be called before routes are added. */
export function addMethods(app: Server): MethodsOf {
  const routes = new Map<string, { readonly path: RegExp; readonly methods: Set<string> }>();

  app.addHook("onRoute", ({ url, method }) => {
    // A route that matches any name does not identify a path.
    if (/[(*]/.test(url)) return;
    const known = routes.get(url) ?? { path: patternOf(url), methods: new Set() };
    routes.set(url, known);
    for (const name of [method].flat()) known.methods.add(name);
  });

  return (url) => {
    const [path = ""] = url.split("?", 1);
    const methods = [...routes.values()].flatMap((route) =>
      route.path.test(path) ? [...route.methods] : [],
    );
    return [...new Set(methods)].sort();
  };
}

/** Converts a URL such as `/webhooks/:id` to a pattern; a parameter matches a non-empty segment. */
const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replaceAll(".", "\\.").replace(/:[^/]+/g, "[^/]+")}$`);

/** Returns whether only the method of an unmatched request is wrong, and not its path. */
const isOtherMethod = ({ method }: FastifyRequest, methods: readonly string[]): boolean =>
  methods.length > 0 && !methods.includes(method);
