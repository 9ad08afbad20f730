import { ApiError } from "@uniknode/client";
import { errorText } from "./error-text.ts";

/** Returns the message of the node, which says what to do, or else the message of the client. */
export function refusalText(error: unknown): string {
  const { message } = Object(error instanceof ApiError ? error.body : undefined) as { message?: unknown };
  return typeof message === "string" ? message : errorText(error);
}
