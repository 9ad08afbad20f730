/** Serves the built files before a node does: as the node, with its headers, and its API behind it. */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};
export const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

export type ServeOptions = {
  readonly nodeUrl: string;
  /** Of the node: with it, or with the code `code`, a browser signs in. */
  readonly token: string;
  /** Folder of the built files. */
  readonly files: string;
  readonly port?: number;
};

export async function serveConsole({ nodeUrl, token, files, port = 0 }: ServeOptions) {
  let isSignedIn = false;
  let isPaused = false;

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (isPaused) return void response.destroy();
    const path = new URL(incoming.url!, "http://console").pathname;
    if (path === "/console/session") return session(incoming, response);
    if (path.startsWith("/console/operations/")) {
      if (!isSignedIn) return json(response, 401, { statusCode: 401, message: "sign in first" });
      return forward(incoming, response, incoming.url!.slice("/console/operations".length), token);
    }
    if (!path.startsWith("/console")) return forward(incoming, response, incoming.url!);
    const file = extname(path) && !path.includes("..") ? path.slice("/console".length) : "/index.html";
    response.writeHead(200, {
      ...HEADERS,
      "content-type": TYPES[extname(file)] ?? "application/octet-stream",
    });
    response.end(readFileSync(join(files, file)));
  }

  async function session(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    if (incoming.method === "POST") {
      const given = JSON.parse(Buffer.concat(chunks).toString()) as { token?: string; code?: string };
      if (given.token !== token && given.code !== "code")
        return json(response, 401, { message: "the token is wrong" });
      isSignedIn = true;
    }
    if (incoming.method === "DELETE") isSignedIn = false;
    json(response, 200, { signedIn: isSignedIn, devChain: true, network: "dev", version: "0.1.0" });
  }

  function forward(incoming: IncomingMessage, response: ServerResponse, path: string, token?: string): void {
    const headers = { ...incoming.headers, ...(token && { authorization: token }) };
    const { method } = incoming;
    const outgoing = request(`${nodeUrl}${path}`, { method: method!, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    response.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  }

  const server = createServer(
    (incoming, response) => void answer(incoming, response).catch(() => response.destroy()),
  );
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    /** Breaks connections instead of answering. */
    pause() {
      isPaused = true;
      server.closeAllConnections();
    },
    resume() {
      isPaused = false;
    },
  };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
