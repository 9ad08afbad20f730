/** Fetches JSON once that does not change while the node runs. */
import { ApiError } from "@uniknode/client";
import { useResponse } from "../../data/node.ts";
import type { CachedResponse } from "../../data/response-cache.ts";

const TIMEOUT_MS = 20_000;

/** URL of a file of the build, or of the OpenAPI document. */
export const useFile = <Content>(url: string): CachedResponse<Content> =>
  useResponse(url, () => readFile<Content>(url), { lasts: "session" });

/** @throws {ApiError} */
async function readFile<Content>(url: string): Promise<Content> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((cause) => {
    throw new ApiError({ code: "API_UNREACHABLE", cause }, url);
  });
  // Paths without a file return the page itself.
  const isFile = response.headers.get("content-type")?.startsWith("application/json") === true;
  if (!response.ok || !isFile)
    throw new ApiError({ code: "API_NOT_FOUND", status: response.status, body: "" }, url);
  return (await response.json()) as Content;
}
