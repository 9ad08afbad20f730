/** Requests of the simulation to the register of webhooks and to the dev chain. */
import assert from "node:assert/strict";

export const TOKEN = "simulation";

export type DeliveryEntry = { readonly messageId: string; readonly sequence?: number };

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

/**
 * @param nodeUrl base URL of the node
 * @param webhooksUrl base URL of the process that has the register
 */
export function createControl(nodeUrl: string, webhooksUrl: string = nodeUrl): Control {
  async function ask(method: string, path: string, body: unknown, expected: readonly number[]) {
    const baseUrl = path.startsWith("/api/webhooks") ? webhooksUrl : nodeUrl;
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        authorization: TOKEN,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(expected.includes(response.status), `${method} ${path} returned ${response.status}: ${text}`);
    return JSON.parse(text) as { data?: unknown; meta?: { next: string | null } };
  }
  return {
    post: async (path, body = {}, expected = [200, 201]) => (await ask("POST", path, body, expected)).data,
    put: (path, body) => ask("PUT", path, body, [200]),
    remove: (path) => ask("DELETE", path, undefined, [200]),
    get: async (path) => (await ask("GET", path, undefined, [200])).data,
    async list<T>(path: string) {
      const entries: T[] = [];
      for (let next: string | null = path; next !== null; ) {
        const page: { data?: unknown; meta?: { next: string | null } } = await ask(
          "GET",
          next,
          undefined,
          [200],
        );
        entries.push(...(page.data as T[]));
        next = page.meta?.next ?? null;
      }
      return entries;
    },
  };
}
