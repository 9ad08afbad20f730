/** Requests to the register of webhooks and to the dev chain. */
import assert from "node:assert/strict";
import { type Client, connect } from "../../process/client.ts";
import { until } from "../../process/until.ts";

/** Token of every process. */
export const TOKEN = "faults";

export type Control = {
  /** @throws {Error} if there is no response, or its status is unexpected */
  post(path: string, body?: unknown, expected?: readonly number[]): Promise<unknown>;
  put(path: string, body: unknown): Promise<unknown>;
  remove(path: string): Promise<unknown>;
  /** Returns `data` of every page. */
  list<T>(path: string): Promise<T[]>;
  /** Returns `data` of the response. */
  get(path: string): Promise<unknown>;
};

type Body = { data?: unknown; meta?: { next: string | null } };

/** @param url base URL of the node */
export function createControl(url: string): Control {
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
    post: async (path, body = {}, expected = [200, 201]) => (await ask("POST", path, body, expected)).data,
    put: (path, body) => ask("PUT", path, body, [200]),
    remove: (path) => ask("DELETE", path, undefined, [200]),
    get: async (path) => (await ask("GET", path, undefined, [200])).data,
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
