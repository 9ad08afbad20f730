/** Client of the operator routes (operations.md 10). */
import { ApiError } from "@uniknode/client";
import { type Figures, figuresOf } from "./metrics.ts";

export type Check = { readonly ok: boolean; readonly detail: string };

/** Response of `/health/status`. */
export type Summary = {
  readonly version: string;
  /** Version of the old software that the node is compatible with. */
  readonly protocol: string;
  readonly uptimeSeconds: number;
  readonly checks: Readonly<Record<string, Check>>;
  /** Absent from an API server, which has neither webhooks nor streams of its own. */
  readonly webhooks?: {
    readonly active: number;
    readonly disabled: number;
    readonly suspended: number;
    readonly queues: { readonly waiting: number; readonly retrying: number; readonly replaying: number };
  };
  readonly streams?: { readonly open: number; readonly cut: number; readonly unreadBytes: number };
};

export type Operations = {
  /** @throws {ApiError} */
  summary(): Promise<Summary>;
  /** @throws {ApiError} */
  figures(): Promise<Figures>;
};

const PREFIX = "/console/operations";
const TIMEOUT_MS = 10_000;

/** Creates the client for a signed-in browser. */
export function createOperations(makeRequest: typeof fetch): Operations {
  async function read(path: string): Promise<string> {
    const url = `${PREFIX}${path}`;
    const response = await makeRequest(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((cause) => {
      throw new ApiError({ code: "API_UNREACHABLE", cause }, url);
    });
    const { status } = response;
    const body = await response.text();
    if (status === 401 || status === 403) throw new ApiError({ code: "API_UNAUTHORIZED", status, body }, url);
    if (!response.ok) throw new ApiError({ code: "API_FAILED", status, body }, url);
    return body;
  }

  return {
    summary: async () => JSON.parse(await read("/health/status")) as Summary,
    figures: async () => figuresOf(await read("/metrics")),
  };
}
