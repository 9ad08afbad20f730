/** Errors as answers (http-api.md section 2). */
import { STATUS_CODES } from "node:http";

/** An answer other than success, thrown by a handler. */
export class HttpError extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, message: string = STATUS_CODES[statusCode] ?? "") {
    super(message);
    this.name = "HttpError";
    this.statusCode = statusCode;
  }
}

/** 404 of a thing that a path names: `Wallet not found`. */
export const notFound = (thing: string): HttpError => new HttpError(404, `${thing} not found`);

export type ErrorBody = {
  statusCode: number;
  /** Reason phrase of the status. */
  error: string;
  message: string;
  /** Only where a parameter or body is refused with 400. */
  validation?: { source: "query" | "params" | "payload"; keys: string[] };
};

export const errorBody = (statusCode: number, message: string): ErrorBody => ({
  statusCode,
  error: STATUS_CODES[statusCode] ?? "Unknown",
  message,
});
