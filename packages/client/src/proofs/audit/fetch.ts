/** Requests the bytes of a tile. */

export type Fetched = Uint8Array;

/** A leaf has at most 120 characters. */
const MAX_BYTES = 65_536;
const TIMEOUT_MS = 30_000;

export type TileOptions = {
  readonly url: string;
  readonly fetch?: typeof globalThis.fetch;
  readonly signal?: AbortSignal | undefined;
};

/** Creates a reader of paths below `/facts/tile/`. It throws `TypeError` and `Error` of `fetch`, and for other statuses. */
export const createTileReader =
  ({ url, fetch = globalThis.fetch, signal }: TileOptions) =>
  async (path: string): Promise<Fetched> => {
    const address = `${url.replace(/\/+$/, "")}/api/v2/facts/tile/${path}`;
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(address, {
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    if (response.status !== 200) throw new TileUnavailableError(path, response.status);
    const bytes = await readBounded(response);
    if (!bytes) throw new TileUnavailableError(path, response.status);
    return bytes;
  };

/** Returns undefined for a longer body, of which no more is read. */
async function readBounded({ body }: Response): Promise<Fetched | undefined> {
  const bytes = new Uint8Array(MAX_BYTES);
  let length = 0;
  for (const reader = body?.getReader(); reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    if (length + value.length > MAX_BYTES) {
      await reader.cancel();
      return undefined;
    }
    bytes.set(value, length);
    length += value.length;
  }
  return bytes.subarray(0, length);
}

/** The node did not return a tile. */
export class TileUnavailableError extends Error {
  readonly code = "TILE_UNAVAILABLE";
  readonly isRetryable: boolean;

  constructor(path: string, status: number) {
    super(`the node returned no tile ${path} (HTTP status ${status}): try again, or use another node`);
    this.name = "TileUnavailableError";
    this.isRetryable = status >= 500 || status === 429;
  }
}
