/** Errors as answers (http-api.md 2). */
import { STATUS_CODES } from "node:http";
import { type Static, Type } from "typebox";

/** An answer other than success, thrown by a handler. */
export class HttpError extends Error {
  readonly statusCode: number;
  readonly isRetryable: boolean;

  constructor(statusCode: number, message: string = STATUS_CODES[statusCode] ?? "") {
    super(message);
    this.name = "HttpError";
    this.statusCode = statusCode;
    this.isRetryable = statusCode === 429 || statusCode === 503;
  }
}

/** 404 for a resource of a path: `Wallet not found`. */
export const notFound = (thing: string): HttpError => new HttpError(404, `${thing} not found`);

export const ErrorBody = Type.Object(
  {
    statusCode: Type.Integer(),
    error: Type.String({ description: "Reason phrase of the status." }),
    message: Type.String(),
    validation: Type.Optional(
      Type.Object(
        { source: Type.Enum(["query", "params", "payload"]), keys: Type.Array(Type.String()) },
        { description: "Only where a parameter or body is refused with 400." },
      ),
    ),
  },
  { title: "Error" },
);
export type ErrorBody = Static<typeof ErrorBody>;

export const errorBody = (statusCode: number, message: string): ErrorBody => ({
  statusCode,
  error: STATUS_CODES[statusCode] ?? "Unknown",
  message,
});
