import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Lookup } from "../../src/webhooks/connections/names.ts";
import { DEFAULT_POST_OPTIONS, HttpPost, type PostOptions } from "../../src/webhooks/delivery/post.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";
import { always, blockApplied, createService } from "../../test-support/webhooks/support.ts";

const OPTIONS: PostOptions = {
  ...DEFAULT_POST_OPTIONS,
  allowPrivateTargets: true,
  connectTimeoutMs: WAIT_MS,
  timeoutMs: WAIT_MS,
  userAgent: "uniknode/test",
};
/** Longer than the headers of a response need, also on a busy machine. */
const WITHOUT_END_MS = Math.ceil(WAIT_MS / 60);
const PUBLIC_ONLY = { allowPrivateTargets: false };

async function receiver(respond: RequestListener): Promise<{ port: number; server: Server }> {
  const server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, server };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

function sender(options: Partial<PostOptions> = {}, lookup?: Lookup) {
  const http = new HttpPost({ ...OPTIONS, ...options }, lookup);
  onTestFinished(() => http.close());
  return (target: string, signal = new AbortController().signal) =>
    http.post(
      {
        id: "msg_1",
        webhook: 1,
        target,
        isStrict: false,
        headers: { "content-type": "application/json", "webhook-id": "msg_1" },
        body: "{}",
      },
      signal,
    );
}

describe("a post", () => {
  test("A post sends body and headers unchanged.", async () => {
    const seen: unknown[] = [];
    const { port } = await receiver(async (request, response) => {
      const { method, url, headers } = request;
      seen.push({ method, url, headers, body: await textOf(request) });
      response.writeHead(204).end();
    });
    expect(await sender()(`http://127.0.0.1:${port}/hook?x=1#part`)).toEqual({
      status: 204,
      headers: expect.any(String),
    });
    expect(seen).toEqual([
      {
        method: "POST",
        url: "/hook?x=1",
        body: "{}",
        headers: {
          host: `127.0.0.1:${port}`,
          connection: "keep-alive",
          "content-type": "application/json",
          "content-length": "2",
          "webhook-id": "msg_1",
          "user-agent": "uniknode/test",
        },
      },
    ]);
  });

  test("A post does not follow redirects.", async () => {
    const urls: unknown[] = [];
    const { port } = await receiver((request, response) => {
      urls.push(request.url);
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    expect(await sender()(`http://127.0.0.1:${port}/hook`)).toEqual({
      status: 307,
      headers: expect.any(String),
    });
    expect(urls).toEqual(["/hook"]);
  });

  test("A post reports Retry-After.", async () => {
    const { port } = await receiver((_request, response) => {
      response.writeHead(429, { "retry-after": "7" }).end();
    });
    expect(await sender()(`http://127.0.0.1:${port}/`)).toEqual({
      status: 429,
      retryAfter: "7",
      headers: expect.any(String),
    });
  });

  test("A post fails without a response in time.", async () => {
    const { port } = await receiver(() => {});
    await expect(sender({ timeoutMs: 50 })(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      name: "TimeoutError",
    });
  });

  test("A post is not sent if the connection is established too late.", async () => {
    const urls: unknown[] = [];
    const { port } = await receiver((request, response) => {
      urls.push(request.url);
      response.end();
    });
    const resolved = Promise.withResolvers<void>();
    const lookup: Lookup = async () => {
      await resolved.promise;
      return [{ address: "127.0.0.1", family: 4 }];
    };
    const send = sender({ timeoutMs: 50, connectTimeoutMs: 5_000 }, lookup);
    await expect(send(`http://receiver.example:${port}/late`)).rejects.toMatchObject({
      name: "TimeoutError",
    });
    resolved.resolve();
    const headers = expect.stringMatching(/^date: /);
    expect(await sender()(`http://127.0.0.1:${port}/other`)).toEqual({ status: 200, headers });
    await expect.poll(() => send(`http://receiver.example:${port}/next`)).toEqual({ status: 200, headers });
    expect(urls).not.toContain("/late");
  });

  test("A post uses the last status of the response.", async () => {
    const { port } = await receiver((_request, response) => {
      response.writeEarlyHints({ link: "</style.css>; rel=preload" });
      response.writeHead(503, { "retry-after": "9" }).end("busy");
    });
    expect(await sender()(`http://127.0.0.1:${port}/`)).toEqual({
      status: 503,
      retryAfter: "9",
      excerpt: "busy",
      headers: expect.stringMatching(/^retry-after: 9\ndate: /),
    });
  });

  test("A post accepts an unrequested 100 Continue before the response.", async () => {
    const { port } = await receiver((_request, response) => {
      response.writeContinue();
      response.writeHead(200).end("ok");
    });
    expect(await sender()(`http://127.0.0.1:${port}/`)).toEqual({
      ...{ status: 200, excerpt: "ok" },
      headers: expect.stringMatching(/^date: /),
    });
  });

  test("A post succeeds by its status, regardless of the body.", async () => {
    const bodies: RequestListener[] = [
      (_request, response) => void response.writeHead(200).write("never ends"),
      (_request, response) => void response.writeHead(200).end("x".repeat(5_000_000)),
      (_request, response) => {
        response.writeHead(200).write("x");
        setTimeout(() => response.destroy(), 20);
      },
    ];
    for (const body of bodies) {
      const { port } = await receiver(body);
      expect((await sender({ timeoutMs: WITHOUT_END_MS })(`http://127.0.0.1:${port}/`)).status).toBe(200);
    }
  });

  test("A post keeps the beginning of the response body.", async () => {
    const bodies: [RequestListener, string | undefined][] = [
      [(_request, response) => void response.writeHead(400).end("no such hook"), "no such hook"],
      [(_request, response) => void response.writeHead(500).write("never ends"), "never ends"],
      [(_request, response) => void response.end("x".repeat(5_000_000)), "x".repeat(512)],
      [(_request, response) => void response.end(Buffer.from([0x61, 0xff])), "a\ufffd"],
      [(_request, response) => void response.end(), undefined],
    ];
    for (const [body, excerpt] of bodies) {
      const { port } = await receiver(body);
      expect((await sender({ timeoutMs: WITHOUT_END_MS })(`http://127.0.0.1:${port}/`)).excerpt).toBe(
        excerpt,
      );
    }
  });

  test("A post keeps the connection for the next one.", async () => {
    const ports = new Set<number | undefined>();
    const { port } = await receiver((request, response) => {
      ports.add(request.socket.remotePort);
      response.writeHead(200).end("ok");
    });
    const send = sender();
    for (let count = 0; count < 10; count++) await send(`http://127.0.0.1:${port}/`);
    // Two may alternate: one response is still being read when the next delivery starts.
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  test("A post does not reuse a connection that the target closes within a second.", async () => {
    const ports: unknown[] = [];
    const { port, server } = await receiver((request, response) => {
      ports.push(request.socket.remotePort);
      response.writeHead(200).end("ok");
    });
    server.keepAliveTimeout = 1_000;
    const send = sender();
    for (let count = 0; count < 3; count++) await send(`http://127.0.0.1:${port}/`);
    expect(new Set(ports).size).toBe(3);
  });

  test("A post is aborted by its signal, with the reason.", async () => {
    const { port, server } = await receiver(() => {});
    const abort = new AbortController();
    const sent = sender()(`http://127.0.0.1:${port}/`, abort.signal);
    abort.abort();
    await expect(sent).rejects.toThrow();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await expect(sender()(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});

describe("the target guard", () => {
  test.each([
    "http://127.0.0.1/",
    "http://0x7f.1/",
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://0.0.0.0/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://100.64.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://[fe80::1]/",
    "http://[fd00:ec2::254]/",
    "http://[ff02::1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "https://127.0.0.1/",
    "https://[::1]/",
  ])("The target guard refuses %s.", async (target) => {
    await expect(sender(PUBLIC_ONLY)(target)).rejects.toMatchObject({ code: "TARGET_REFUSED" });
  });

  test("The target guard refuses names that resolve to such an address, even among others.", async () => {
    const { port } = await receiver((_request, response) => response.end());
    for (const addresses of [["127.0.0.1"], ["::1"], ["93.184.216.34", "127.0.0.1"], ["::ffff:10.0.0.1"]]) {
      const lookup: Lookup = async () =>
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
      await expect(sender(PUBLIC_ONLY, lookup)(`http://receiver.example:${port}/`)).rejects.toMatchObject({
        code: "TARGET_REFUSED",
      });
    }
    await expect(sender(PUBLIC_ONLY)(`http://localhost:${port}/`)).rejects.toMatchObject({
      code: "TARGET_REFUSED",
    });
  });

  test("The target guard connects to the address that was checked, under the name of the target.", async () => {
    const hosts: unknown[] = [];
    const { port } = await receiver((request, response) => {
      hosts.push(request.headers.host);
      response.end();
    });
    let lookups = 0;
    const lookup: Lookup = async () => {
      lookups++;
      return [{ address: "127.0.0.1", family: 4 }];
    };
    const send = sender({ ...PUBLIC_ONLY, allowedNetworks: "127.0.0.0/8" }, lookup);
    expect(await send(`http://receiver.example:${port}/`)).toEqual({
      status: 200,
      headers: expect.any(String),
    });
    expect(hosts).toEqual([`receiver.example:${port}`]);
    expect(lookups).toBe(1);
  });

  test("The target guard fails with the error of the resolver.", async () => {
    const failing: Lookup = async () => {
      throw Object.assign(new Error("unknown"), { code: "NAME_NOT_FOUND" });
    };
    await expect(sender({}, failing)("http://receiver.example/")).rejects.toMatchObject({
      code: "NAME_NOT_FOUND",
    });
    const empty: Lookup = async () => [];
    await expect(sender({}, empty)("http://receiver.example/")).rejects.toThrow("has no address");
  });
});

test("A delivery is sent over real HTTP, and a refused target is in the log.", async () => {
  const bodies: string[] = [];
  const { port } = await receiver(async (request, response) => {
    bodies.push(await textOf(request));
    response.writeHead(202).end();
  });
  const http = new HttpPost({ ...OPTIONS, ...PUBLIC_ONLY, allowedNetworks: "127.0.0.1/32" });
  onTestFinished(() => http.close());
  const { webhooks, emit, log } = createService({ post: http.post });
  const good = await webhooks.register.create(always("block.applied", `http://127.0.0.1:${port}/`));
  const bad = await webhooks.register.create(always("block.applied", `http://127.0.0.2:${port}/`));
  await emit(blockApplied(1));
  await expect
    .poll(() => log(good.id, 1))
    .toMatchObject([{ state: "delivered", attempts: [{ status: 202 }] }]);
  await expect
    .poll(() => log(bad.id, 1))
    .toMatchObject([
      {
        state: "pending",
        attempts: [{ error: "TARGET_REFUSED" }],
        reason: "TARGET_REFUSED: target address 127.0.0.2 is not public or not allowed",
      },
    ]);
  expect(JSON.parse(bodies[0] ?? "")).toMatchObject({ event: "block.applied", height: 1 });
});

test("A failed handshake has its reason, without the source of the library.", async () => {
  const plain = await receiver(() => {});
  const http = new HttpPost(OPTIONS);
  onTestFinished(() => http.close());
  const { webhooks, emit, log } = createService({ post: http.post });
  const { id } = await webhooks.register.create(always("block.applied", `https://127.0.0.1:${plain.port}/`));
  await emit(blockApplied(1));
  await expect.poll(async () => (await log(id, 1))[0]?.reason).toMatch(/^\w+: wrong version number$/);
});

test("A receiver that never responds delays no other.", async () => {
  const arrived: number[] = [];
  const slow = await receiver(() => {});
  const quick = await receiver(async (request, response) => {
    arrived.push(JSON.parse(await textOf(request)).height);
    response.end();
  });
  const http = new HttpPost(OPTIONS);
  onTestFinished(() => http.close());
  const { webhooks, emit } = createService({ post: http.post });
  await webhooks.register.create(always("block.applied", `http://127.0.0.1:${slow.port}/`));
  await webhooks.register.create(always("block.applied", `http://127.0.0.1:${quick.port}/`));
  await emit(blockApplied(1), blockApplied(2), blockApplied(3));
  await expect.poll(() => arrived).toEqual([1, 2, 3]);
});
