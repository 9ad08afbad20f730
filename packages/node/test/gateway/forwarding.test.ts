/** Requests that an API server forwards to a node. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import {
  DEFAULT_FORWARDING_OPTIONS,
  type ForwardedRequest,
  Forwarding,
} from "../../src/gateway/forwarding.ts";
import { createForwardRoutes } from "../../src/http/forward/routes.ts";
import { present } from "../../src/platform/present.ts";
import { openFixture } from "../../test-support/http/fixture.ts";

/** Starts a node that does not end its responses, and forwards requests of clients to it. */
async function startForwarding(bounds: { maxOpen?: number; maxOpenPerClient?: number }) {
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    response.flushHeaders();
    responses.push(response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const options = { ...DEFAULT_FORWARDING_OPTIONS, ...bounds, urls: [`http://127.0.0.1:${port}`] };
  const forwarding = new Forwarding(options, { onFailure: () => {} });
  onTestFinished(async () => {
    await forwarding.close();
    server.closeAllConnections();
    server.close();
  });
  const forward = (client: string) =>
    forwarding.forward({
      client,
      method: "GET",
      path: "/events",
      headers: {},
      body: undefined,
      signal: new AbortController().signal,
    });
  return { forward, figures: () => forwarding.figures(), responses };
}

const refused = { code: "CALL_REFUSED" };

test("One client cannot use all forwarded requests; a client is an IPv4 address or a /64.", async () => {
  const { forward, figures } = await startForwarding({ maxOpenPerClient: 2 });
  await Promise.all(["192.0.2.1", "192.0.2.1", "2001:db8::1", "2001:db8::2"].map(forward));
  await expect(forward("192.0.2.1")).rejects.toMatchObject(refused);
  await expect(forward("2001:db8::3")).rejects.toMatchObject(refused);
  expect((await forward("192.0.2.2")).status).toBe(200);
  expect(figures()).toMatchObject({ open: 5, refused: 2 });
});

test("A request counts until its response has ended.", async () => {
  const { forward, figures, responses } = await startForwarding({ maxOpenPerClient: 1 });
  const { body } = await forward("192.0.2.1");
  await expect(forward("192.0.2.1")).rejects.toMatchObject(refused);
  responses[0]?.end();
  body.resume();
  await expect.poll(() => figures().open).toBe(0);
  expect((await forward("192.0.2.1")).status).toBe(200);
});

test("All clients together have a bound, too.", async () => {
  const { forward } = await startForwarding({ maxOpen: 2 });
  await Promise.all(["192.0.2.1", "192.0.2.2"].map(forward));
  await expect(forward("192.0.2.3")).rejects.toMatchObject(refused);
});

test.each(["application/json", "text/plain"])(
  "The node receives a body of %s as the client sent it.",
  async (type) => {
    const requests: ForwardedRequest[] = [];
    const forwarding = {
      async forward(request: ForwardedRequest) {
        requests.push(request);
        return { status: 202, headers: { "x-node": "1" }, body: Readable.from(["done"]) };
      },
      figures: () => expect.unreachable(),
      close: async () => {},
    };
    const { app, close } = openFixture({}, { plugins: [createForwardRoutes(forwarding)] });
    onTestFinished(close);
    const payload = '{ "blocks": 2 }';
    const headers = { "content-type": type, authorization: "token", connection: "keep-alive" };
    const response = await app.inject({ method: "POST", url: "/api/v2/dev/mine?a=1", headers, payload });
    expect([response.statusCode, response.headers["x-node"], response.body]).toEqual([202, "1", "done"]);
    const { method, path, body, headers: sent } = present(requests[0]);
    expect([method, path, body?.toString()]).toEqual(["POST", "/api/v2/dev/mine?a=1", payload]);
    expect(sent).toMatchObject({ "content-type": type, authorization: "token" });
    expect(sent).not.toHaveProperty("connection");
  },
);
