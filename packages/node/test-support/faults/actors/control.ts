/** Requests to the register of webhooks and to the dev chain. */
import assert from "node:assert/strict";
import { type Client, connect } from "../../process/client.ts";
import { until } from "../../process/until.ts";

/** Token of every process. */
export const TOKEN = "faults";

type Body = { data?: unknown; meta?: { next: string | null } };

export type Control = ReturnType<typeof createControl>;

export function createControl(url: string) {
  /** @throws {Error} if there is no response, or its status is unexpected */
  async function ask(method: string, path: string, body: unknown, expected: readonly number[]) {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: TOKEN,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(expected.includes(response.status), `${method} ${path} returned ${response.status}: ${text}`);
    return JSON.parse(text) as Body;
  }
  return {
    /** Returns `data` of the response, as does `get`. */
    post: async (path: string, body: unknown = {}, expected: readonly number[] = [200, 201]) =>
      (await ask("POST", path, body, expected)).data,
    put: (path: string, body: unknown) => ask("PUT", path, body, [200]),
    remove: (path: string) => ask("DELETE", path, undefined, [200]),
    get: async (path: string) => (await ask("GET", path, undefined, [200])).data,
    /** Returns `data` of every page. */
    async list<T>(path: string) {
      const entries: T[] = [];
      for (let next: string | null = path; next !== null; ) {
        const page: Body = await ask("GET", next, undefined, [200]);
        entries.push(...(page.data as T[]));
        next = page.meta?.next ?? null;
      }
      return entries;
    },
  };
}

/** Connects to a node: on a busy machine the first response may take longer than its own timeout. */
export const connectTo = (url: string): Promise<Client> => until(`no response of ${url}`, () => connect(url));
