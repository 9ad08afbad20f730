/** Texts of errors. */
import { ApiError } from "@uniknode/client";

/** Returns the message of an error, or the thrown value as text. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Returns the message of the node, which says what to do, or else the message of the client. */
export function refusalText(error: unknown): string {
  const { message } = Object(error instanceof ApiError ? error.body : undefined) as { message?: unknown };
  return typeof message === "string" ? message : errorText(error);
}
