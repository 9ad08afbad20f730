/** Errors as responses (http-api.md 2). */
import { CodedError } from "../../platform/coded-error.ts";
import { STATUS_CODES } from "../../platform/http.ts";
import { type Static, Type } from "../../platform/json/schema.ts";
import { type ErrorCode, statusOf } from "./error-codes.ts";

/** `status` replaces the default status of the code. */
type HttpErrorOptions = { readonly status?: number };

/** An error response, thrown by a handler. */
export class HttpError extends CodedError<ErrorCode> {
  readonly statusCode: number;

  constructor(code: ErrorCode, message?: string, { status = statusOf(code) }: HttpErrorOptions = {}) {
    super(code, message ?? STATUS_CODES[status] ?? "", { isRetryable: status === 429 || status === 503 });
    this.statusCode = status;
  }
}

/** Creates the 404 for a resource of a path: `Wallet not found`. */
export const notFound = (code: ErrorCode, thing: string): HttpError =>
  new HttpError(code, `${thing} not found`);

export const ErrorBody = Type.Object(
  {
    statusCode: Type.Integer(),
    error: Type.String({ description: "Reason phrase of the status." }),
    message: Type.String(),
    code: Type.Optional(
      Type.String({
        description:
          "Error code for programs. Routes of the old node return it only in the header `error-code`.",
        examples: ["WEBHOOK_UNKNOWN"],
      }),
    ),
    validation: Type.Optional(
      Type.Object(
        { source: Type.Enum(["query", "params", "payload"]), keys: Type.Array(Type.String()) },
        { description: "Present only if a parameter or the body is refused with 400." },
      ),
    ),
  },
  { title: "Error" },
);
export type ErrorBody = Static<typeof ErrorBody>;

/** Header with the code of every error, even if its body cannot contain the code. */
export const CODE_HEADER = "error-code";

/** Status, code and message of an error response. */
export type Failure = {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly validation?: ErrorBody["validation"];
};

/**
 * Returns the body of a failure. The errors of the old node's routes were recorded: they have exactly its members
 * (docs/decisions/0032-error-codes-compatible-with-recorded-responses.md).
 */
export const errorBody = ({ status, code, message, validation }: Failure, path: string): ErrorBody => ({
  statusCode: status,
  error: STATUS_CODES[status] ?? "Unknown",
  message,
  ...(isOwnPath(path) && { code }),
  ...(validation && { validation }),
});

/** Paths that the old node did not have on this address. */
const OWN_PATH =
  /^\/(api(\/v2)?\/(webhooks|events|operations|facts|dev|openapi\.json)|health|metrics|documentation|console)(?=[/?]|$)/;

export const isOwnPath = (path: string): boolean => OWN_PATH.test(path);
