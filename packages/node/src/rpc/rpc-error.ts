/** Errors of JSON-RPC 2.0, and errors of the service itself, whose numbers are HTTP statuses (operations.md 8). */
import { CodedError } from "../platform/coded-error.ts";
import { STATUS_CODES } from "../platform/http.ts";

type RpcErrorCode =
  | "RPC_BODY_NOT_JSON"
  | "RPC_REQUEST_INVALID"
  | "RPC_METHOD_UNKNOWN"
  | "RPC_PARAMS_INVALID"
  | "RPC_INTERNAL"
  /** An error of the service: `number` is an HTTP status. */
  | "RPC_STATUS";

export class RpcError extends CodedError<RpcErrorCode> {
  /** `code` of the error in JSON-RPC. */
  readonly number: number;
  /** Describes the error if the number alone does not. */
  readonly data?: string;

  constructor(code: RpcErrorCode, number: number, message: string, data?: string) {
    super(code, message, { isRetryable: number === 429 || number === 503 });
    this.number = number;
    if (data !== undefined) this.data = data;
  }
}

export const noJson = (): RpcError => new RpcError("RPC_BODY_NOT_JSON", -32700, "Parse error");
export const invalidRequest = (data?: string): RpcError =>
  new RpcError("RPC_REQUEST_INVALID", -32600, "Invalid Request", data);
export const unknownMethod = (): RpcError => new RpcError("RPC_METHOD_UNKNOWN", -32601, "Method not found");
export const invalidParams = (data: string): RpcError =>
  new RpcError("RPC_PARAMS_INVALID", -32602, "Invalid params", data);
export const internalError = (): RpcError => new RpcError("RPC_INTERNAL", -32603, "Internal error");

/** Creates an error with a status: 404 if something is not found, 422 for a refusal, 500 and 503 if the node could not respond. */
export const ofStatus = (status: number, data?: string): RpcError =>
  new RpcError("RPC_STATUS", status, STATUS_CODES[status] ?? "Error", data);
