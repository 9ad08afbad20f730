/** Answers to failed requests. They never contain internal details of the node (http-api.md 2). */
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { BodyError } from "../../gateway/gateway.ts";
import { CallError } from "../../platform/threads/error.ts";
import { CursorError, SnapshotError } from "../../read/errors.ts";
import type { Server } from "./app.ts";
import { allowOrigin, grant, isPreflight } from "./cors.ts";
import { LateError } from "./deadlines.ts";
import { type ErrorBody, errorBody, HttpError } from "./error.ts";
import { faultsOf } from "./faults.ts";
import { writeCommonHeaders } from "./headers.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Status of a request that does not validate: 422 unless the route says otherwise. */
    invalidStatus?: 400 | 422;
  }
}

/** Bodies that cannot be read are 422, not 4xx of their own (http-api.md 1.4). */
const UNREADABLE: Readonly<Record<string, string>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "Payload content length greater than maximum allowed: 1048576",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "Unsupported Media Type",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "Request body size did not match Content-Length",
};

/** After which a list that took too long is tried again (`read/sqlite/listing.ts`), or a node that starts is asked. */
const RETRY_AFTER_SECONDS = 10;

export function addFailures(app: Server, logger: Logger): void {
  app.setErrorHandler<FastifyError | Error | undefined | null>(async (thrown, request, reply) => {
    const error = thrown ?? new Error("a failure without an error");
    const body = describe(error, request);
    if (body.statusCode >= 500 && body.statusCode !== 503) {
      const { method, routeOptions } = request;
      logger.error({ err: error, method, route: routeOptions.url }, "request failed");
    }
    // The rest of the request is not read.
    if (body.statusCode === 408) reply.header("connection", "close");
    return withStatus(reply, body.statusCode).send(body);
  });
}

/** Sets the status; for 503 also `retry-after`. */
export function withStatus(reply: FastifyReply, status: number): FastifyReply {
  if (status === 503) reply.header("retry-after", RETRY_AFTER_SECONDS);
  return reply.code(status);
}

/** Answers a request whose path cannot even be percent-decoded: it never reaches the hooks. */
export function answerUnroutable(_error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  writeCommonHeaders(reply);
  allowOrigin(request, reply);
  if (isPreflight(request)) grant(request, reply);
  else reply.code(400).send(errorBody(400, "Bad Request"));
}

function describe(error: Error & Partial<FastifyError>, request: FastifyRequest): ErrorBody {
  const isBarred = error instanceof HttpError && error.statusCode === 403;
  // Unknown paths are always 404, even with an invalid body.
  if (request.is404 && !isBarred) return errorBody(404, "Not Found");
  if (error.validation) return describeInvalid(request);
  if (error instanceof CursorError) return describeParameter("cursor", error.message, request);
  if (error instanceof BodyError) return errorBody(422, error.message);
  // The client caused the timeout.
  if (error instanceof LateError && isWithoutItsBody(request)) {
    return errorBody(408, "The body did not arrive in time");
  }
  if (error instanceof HttpError) return errorBody(error.statusCode, error.message);
  if (error instanceof SnapshotError || error instanceof CallError || error.code === "POOL_BUSY")
    return errorBody(503, "Service Unavailable");
  const unreadable = UNREADABLE[error.code ?? ""];
  if (unreadable !== undefined) return errorBody(422, unreadable);
  const { statusCode = 500 } = error;
  if (statusCode === 503) return errorBody(503, "Service Unavailable");
  if (statusCode >= 400 && statusCode < 500) return errorBody(statusCode, error.message);
  return errorBody(500, "An internal server error occurred");
}

/** Whether the announced body of the request did not arrive in time. */
const isWithoutItsBody = ({ body, headers }: FastifyRequest): boolean =>
  body === undefined && (Number(headers["content-length"] ?? 0) > 0 || "transfer-encoding" in headers);

function describeInvalid(request: FastifyRequest): ErrorBody {
  const { source = "query", faults = [] } = faultsOf(request) ?? {};
  const message = faults.map(({ key, reason }) => `"${key || "value"}" ${reason}`).join(", ");
  const status = request.routeOptions.config.invalidStatus ?? 422;
  if (status === 422) return errorBody(422, message);
  return { ...errorBody(400, message), validation: { source, keys: faults.map(({ key }) => key) } };
}

function describeParameter(name: string, message: string, { routeOptions }: FastifyRequest): ErrorBody {
  const status = routeOptions.config.invalidStatus ?? 422;
  const body = errorBody(status, `"${name}": ${message}`);
  return status === 422 ? body : { ...body, validation: { source: "query", keys: [name] } };
}
