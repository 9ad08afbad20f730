/** Stands between a mirror and its node, and changes lines of the feed, with the right digests. */
import { hash } from "node:crypto";
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";

export type LyingFeed = { readonly url: string; close(): Promise<void> };

const DIGEST_CHARACTERS = 64;

/**
 * @param url of the node
 * @param change returns the JSON text of a line as the mirror gets it
 * @param missing beginnings of paths that get 404
 */
export async function startLyingFeed(
  url: string,
  change: (json: string) => string,
  missing: readonly string[] = [],
): Promise<LyingFeed> {
  const server = createServer((incoming, outgoing) => {
    if (missing.some((path) => incoming.url?.startsWith(path))) {
      outgoing.writeHead(404).end();
      return;
    }
    const { "accept-encoding": _, ...headers } = incoming.headers;
    const forwarded = request(url + incoming.url, { method: incoming.method, headers }, (response) => {
      response.on("error", () => outgoing.destroy());
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      if (!incoming.url?.startsWith("/api/internal/feed")) {
        response.pipe(outgoing);
        return;
      }
      createInterface({ input: response })
        .on("line", (line) => outgoing.write(`${changedLine(line, change)}\n`))
        .on("error", () => outgoing.destroy())
        .on("close", () => outgoing.end());
    });
    forwarded.on("error", () => outgoing.destroy());
    outgoing.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function changedLine(line: string, change: (json: string) => string): string {
  const json = line.slice(DIGEST_CHARACTERS + 1);
  if (json === "") return line;
  const changed = change(json);
  return `${hash("sha256", changed, "hex")} ${changed}`;
}
