/** Errors of JSON-RPC 2.0, and errors of the service itself, whose codes are HTTP statuses (operations.md 8). */
import { STATUS_CODES } from "../platform/http.ts";

/** `data` describes the error if the code alone does not. */
export class RpcError extends Error {
  readonly code: number;
  readonly data?: string;
  readonly isRetryable: boolean;

  constructor(code: number, message: string, data?: string) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.isRetryable = code === 429 || code === 503;
    if (data !== undefined) this.data = data;
  }
}

export const noJson = (): RpcError => new RpcError(-32700, "Parse error");
export const invalidRequest = (data?: string): RpcError => new RpcError(-32600, "Invalid Request", data);
export const unknownMethod = (): RpcError => new RpcError(-32601, "Method not found");
export const invalidParams = (data: string): RpcError => new RpcError(-32602, "Invalid params", data);
export const internalError = (): RpcError => new RpcError(-32603, "Internal error");

/** 404: not found; 422: refused; 500 and 503: the node could not respond. */
export const ofStatus = (status: number, data?: string): RpcError =>
  new RpcError(status, STATUS_CODES[status] ?? "Error", data);
