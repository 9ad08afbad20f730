/** Nodes with a gateway over HTTP, and servers in their place that misbehave. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Gateway } from "../../src/gateway/gateway.ts";
import {
  DEFAULT_REMOTE_CALL_OPTIONS,
  type RemoteCallOptions,
  RemoteCalls,
  RemoteProcesses,
} from "../../src/gateway/remote-processes.ts";
import { createGatewayRoutes } from "../../src/http/gateway/routes.ts";
import { createAccess } from "../../src/http/webhooks/access.ts";
import { createRangeTest } from "../../src/platform/addresses.ts";
import { openFixture } from "../http/fixture.ts";

export const TOKEN = "token of the node";

/** Serves a gateway over HTTP until the test has finished. */
export async function serveGateway(
  served: Gateway,
  options: RemoteCallOptions & { readonly port?: number } = DEFAULT_REMOTE_CALL_OPTIONS,
) {
  const calls = new RemoteCalls(options, () => served);
  const processes = new RemoteProcesses(Date.now);
  const access = { byToken: createAccess({ token: TOKEN }), isListed: createRangeTest("127.0.0.1") };
  const { app, listen, ...fixture } = openFixture(
    { port: options.port ?? 0 },
    { plugins: [createGatewayRoutes(access, calls, processes)] },
  );
  const { port } = await listen();
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= fixture.close();
    return closed;
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${port}`,
    app,
    close,
    figures: () => calls.figures(),
    processes: () => processes.list(),
  };
}

/** Listens with a server that is not a node until the test has finished. */
export async function serveOther(handle: RequestListener) {
  let connections = 0;
  const server = createServer(handle);
  server.on("connection", () => {
    connections += 1;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  async function close() {
    server.closeAllConnections();
    if (server.listening) server.close();
  }
  onTestFinished(close);
  return { url: `http://127.0.0.1:${port}`, port, close, connections: () => connections };
}
