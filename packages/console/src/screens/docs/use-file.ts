/** A file that the build wrote, asked for once. */
import { ApiError } from "@uniknode/client";
import type { Answer } from "../../data/answers.ts";
import { useAnswer } from "../../data/node.ts";

const TIMEOUT_MS = 20_000;

/** @param file below `/console/`; nothing is asked without it */
export const useFile = <Content>(file: string | undefined): Answer<Content> =>
  useAnswer(file, () => readFile<Content>(`/console/${file}`), { lasts: "session" });

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
