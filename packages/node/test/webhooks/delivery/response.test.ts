import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { DEFAULT_POST_OPTIONS, HttpPost } from "../../../src/webhooks/delivery/post.ts";
import { ResponseReader } from "../../../src/webhooks/delivery/response.ts";

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const TOO_LARGE = { code: "RESPONSE_TOO_LARGE", isRetryable: true };

/** Reads a response in pieces of some bytes. */
function read(text: string, size = text.length) {
  const reader = new ResponseReader();
  let hasEnded = false;
  for (let at = 0; at < text.length && !hasEnded; at += size) {
    hasEnded = reader.read(Buffer.from(text.slice(at, at + size), "latin1"));
  }
  return { hasEnded, isReusable: reader.isReusable, response: reader.response, idleMs: reader.idleMs };
}

const reusable = (excerpt?: string, headers?: string, status = 200) => ({
  hasEnded: true,
  isReusable: true,
  idleMs: undefined,
  response: { status, ...(excerpt !== undefined && { excerpt }), ...(headers !== undefined && { headers }) },
});

describe("a response", () => {
  test.each([
    ["has a length", OK, reusable("ok", "content-length: 2")],
    ["has no body", "HTTP/1.1 204 No Content\r\n\r\n", reusable(undefined, undefined, 204)],
    [
      "has no reason",
      "HTTP/1.1 500\r\nContent-Length:0\r\n\r\n",
      reusable(undefined, "content-length: 0", 500),
    ],
    [
      "has chunks",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n2;name=value\r\nok\r\n01 \r\n!\r\n0\r\n\r\n",
      reusable("ok!", "transfer-encoding: Chunked"),
    ],
    [
      "has trailers",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\na: b\r\nc: d\r\n\r\n",
      reusable("ok", "transfer-encoding: chunked"),
    ],
    [
      "follows an unrequested 100 Continue",
      `HTTP/1.1 100 Continue\r\n\r\n${OK}`,
      reusable("ok", "content-length: 2"),
    ],
    [
      "follows several interim responses",
      `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\ncontent-length: 9\r\n\r\n${OK}`,
      reusable("ok", "content-length: 2"),
    ],
  ])("%s, in pieces of any size", (_case, text, expected) => {
    for (let size = 1; size <= text.length; size++) expect(read(text, size)).toEqual(expected);
  });

  test("A response reports Retry-After, and the time after which the target closes the connection.", () => {
    const text =
      "HTTP/1.1 429 Slow down\r\nRetry-After:  7 \r\nKeep-Alive: timeout=5, max=100\r\ncontent-length: 0\r\n\r\n";
    expect(read(text)).toEqual({
      hasEnded: true,
      isReusable: true,
      idleMs: 5_000,
      response: {
        status: 429,
        retryAfter: "7",
        headers: "retry-after: 7\nkeep-alive: timeout=5, max=100\ncontent-length: 0",
      },
    });
  });

  test("The headers of a response are stored in the order received, within bounds and without cookies.", () => {
    const headersOf = (...lines: string[]) =>
      read(`HTTP/1.1 204 No Content\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`).response?.headers;
    expect(headersOf("Server: nginx", "Set-Cookie: a=secret", "set-cookie2: b", "X-A:", "no colon")).toBe(
      "server: nginx\nx-a: ",
    );
    const many = Array.from({ length: 20 }, (_, index) => `a${index}: ${index}`);
    expect(headersOf(...many)).toBe(many.slice(0, 16).join("\n"));
    expect(headersOf(`A: ${"x".repeat(5_000)}`, "b: c")).toBe(`a: ${"x".repeat(128)}\nb: c`);
    expect(headersOf(`${"n".repeat(2_000)}: v`, "b: c")).toBe("n".repeat(1_024));
    expect(headersOf()).toBeUndefined();
  });

  test.each([
    ["the target closes it", "HTTP/1.1 200 OK\r\nconnection: Close\r\ncontent-length: 2\r\n\r\nok"],
    ["it is of HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok"],
    ["it has two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok"],
    [
      "it has a length and chunks",
      "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    ],
    ["it has another encoding", "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\nok"],
    ["bytes follow it", `${OK}HTTP/1.1 200 OK\r\n\r\n`],
    ["it ends with the connection", "HTTP/1.1 200 OK\r\n\r\nok"],
  ])("A response does not leave the connection for another request if %s.", (_case, text) => {
    expect(read(text)).toMatchObject({ isReusable: false, response: { status: 200, excerpt: "ok" } });
  });

  test.each([
    ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n\r\n"],
    ["an unknown version", "HTTP/2.0 200 OK\r\n\r\n"],
    ["an unknown status", "HTTP/1.1 600 What\r\n\r\n"],
    ["a switch of protocols", "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n"],
  ])("A response is not %s.", (_case, text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: "NOT_HTTP" }));
  });
});

/** A target that writes the text again and again, as fast as it is read, after the first part. */
async function endless(first: string, repeated: string) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    const write = () => {
      while (!socket.destroyed && socket.write(repeated));
    };
    socket.once("data", () => {
      socket.setNoDelay().write(first);
      write();
    });
    socket.on("drain", write).resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const http = new HttpPost({ ...DEFAULT_POST_OPTIONS, allowPrivateTargets: true });
  onTestFinished(() => http.close());
  const send = () =>
    http.post(
      {
        ...{ id: "msg_1", webhook: 1, isStrict: false, headers: {}, body: "{}" },
        target: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      },
      new AbortController().signal,
    );
  return { send, open: () => sockets.size };
}

const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
const HEADERS = "x: y\r\n".repeat(200);

describe("the bound of a response", () => {
  test.each([
    ["interim responses", `HTTP/1.1 103 Early Hints\r\n${HEADERS}\r\n`],
    ["interim responses without headers", "HTTP/1.1 100 Continue\r\n\r\n".repeat(100)],
    ["headers", HEADERS],
  ])(
    "The bound of a response ends a target that sends %s without an end, and the attempt fails.",
    async (_case, repeated) => {
      const { send, open } = await endless("HTTP/1.1 103 Early Hints\r\n\r\n", repeated);
      await expect(send()).rejects.toMatchObject(TOO_LARGE);
      await expect.poll(open).toBe(0);
    },
  );

  test.each([
    ["extensions of a chunk", `${CHUNKED}1`, ";name=value".repeat(100)],
    ["chunks", CHUNKED, "1\r\nx\r\n".repeat(100)],
    ["bytes of a chunk", `${CHUNKED}ffffff\r\n`, "x".repeat(1_000)],
    ["trailers", `${CHUNKED}0\r\n`, HEADERS],
    ["bytes of a body", "HTTP/1.1 200 OK\r\n\r\n", "x".repeat(1_000)],
  ])(
    "The bound of a response ends a target that sends %s without an end, and the status counts.",
    async (_case, first, repeated) => {
      const { send, open } = await endless(first, repeated);
      expect(await send()).toMatchObject({ status: 200 });
      await expect.poll(open).toBe(0);
    },
  );

  test("The bound of a response counts pieces, whose bytes arrive one by one.", () => {
    expect(() => read(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(500)}`, 1)).toThrow(
      expect.objectContaining(TOO_LARGE),
    );
    expect(() => read("HTTP/1.1 100\r\n\r\n".repeat(256) + OK)).toThrow(expect.objectContaining(TOO_LARGE));
    expect(read("HTTP/1.1 100\r\n\r\n".repeat(255) + OK)).toEqual(reusable("ok", "content-length: 2"));
  });

  test("The bound of a response allows 32 KiB.", () => {
    const head = "HTTP/1.1 200 OK\r\ncontent-length: 32000\r\n\r\n";
    expect(read(`${head}${"x".repeat(32_000)}`, 1_460)).toEqual(
      reusable("x".repeat(512), "content-length: 32000"),
    );
  });
});
