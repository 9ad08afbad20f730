/** JSON that does not change while the node runs, asked for once. */
import { ApiError } from "@uniknode/client";
import type { Answer } from "../../data/answers.ts";
import { useAnswer } from "../../data/node.ts";

const TIMEOUT_MS = 20_000;

/** Of the build, or the node's own description of its API. */
export const useFile = <Content>(url: string): Answer<Content> =>
  useAnswer(url, () => readFile<Content>(url), { lasts: "session" });

/** @throws {ApiError} */
async function readFile<Content>(url: string): Promise<Content> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((cause) => {
    throw new ApiError({ code: "API_UNREACHABLE", cause }, url);
  });
  // The page itself is at all addresses without a file.
  const isFile = response.headers.get("content-type")?.startsWith("application/json") === true;
  if (!response.ok || !isFile)
    throw new ApiError({ code: "API_NOT_FOUND", status: response.status, body: "" }, url);
  return (await response.json()) as Content;
}
