/** Programs that are not, or do not behave as, NATS servers; and the guard of targets. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { missingForNats, startNatsServer } from "../../../test-support/nats/server.ts";
import { skips } from "../../../test-support/process/available.ts";
import { createSender } from "./support.ts";

const INFO = 'INFO {"server_id":"x","version":"2.9.10","headers":true,"max_payload":1048576,"proto":1}\r\n';

/** Starts a program that does as the test says; `closed` counts the connections that the sender has closed. */
async function start(onConnection: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  let closed = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket
      .resume()
      .on("error", () => {})
      .on("close", () => closed++);
    onConnection(socket);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    target: `nats://127.0.0.1:${port}/chain`,
    port,
    connected: () => sockets.size,
    closed: () => closed,
  };
}

/** Completes the handshake, then runs `onPublish` for what follows. */
const afterHandshake = (onPublish: (socket: Socket, text: string) => void) => (socket: Socket) => {
  socket.write(INFO);
  socket.on("data", (bytes) => {
    const text = bytes.toString("latin1");
    if (text.includes("PING")) socket.write("PONG\r\n");
    if (text.includes("PUB ")) onPublish(socket, text);
  });
};

describe("a program at the port of a target", () => {
  test.each([
    ["that is silent", () => {}, "TimeoutError"],
    ["that sends another greeting", (socket: Socket) => socket.write("SSH-2.0-x\r\n"), "NATS_PROTOCOL"],
    ["that ends the connection", (socket: Socket) => socket.end(), "NATS_PROTOCOL"],
    [
      "whose greeting does not end",
      (socket: Socket) => socket.write("INFO {".padEnd(100_000)),
      "NATS_PROTOCOL",
    ],
    ["that does not complete the handshake", (socket: Socket) => socket.write(INFO), "TimeoutError"],
    [
      "that refuses the client",
      (socket: Socket) => socket.write(`${INFO}-ERR 'Authorization Violation'\r\n`),
      "NATS_AUTHORIZATION",
    ],
  ] as const)("%s fails the attempt and loses the connection", async (_what, onConnection, code) => {
    const { target, connected, closed } = await start(onConnection);
    const { send, connections } = createSender(code === "TimeoutError" ? { timeoutMs: 1_000 } : {});
    await expect(send("a", target)).rejects.toSatisfy(
      (error: Error & { code?: unknown }) => error.code === code || error.name === code,
    );
    await expect.poll(closed).toBe(connected());
    await expect.poll(connections).toBe(0);
  });

  test.each([
    ["bytes", "MSG INBOX 1 60000000\r\n", "x".repeat(65_536), 8_000_000],
    ["pings", "", "PING\r\n".repeat(500), 200_000],
    ["descriptions of itself", "", INFO, 100_000],
  ])(
    "A program that sends %s instead of a reply loses the connection.",
    async (_what, first, repeated, mostBytes) => {
      const flood = (socket: Socket, text: string) => {
        const [, inbox = ""] = /PUB \S+ (\S+) /.exec(text) ?? [];
        socket.write(first.replace("INBOX", inbox));
        const write = () => {
          let isFree = socket.writable;
          while (isFree && socket.bytesWritten < mostBytes) isFree = socket.write(repeated);
        };
        socket.on("drain", write);
        write();
      };
      const { target, connected, closed } = await start(afterHandshake(flood));
      const { send } = createSender();
      await expect(send("a", target)).rejects.toMatchObject({
        code: "NATS_PROTOCOL",
        message: "the server sent more than the reply to a request",
      });
      await expect.poll(closed).toBe(connected());
    },
  );

  test.each([
    ["bytes of another protocol", "HTTP/1.1 400 Bad Request\r\n\r\n"],
    ["a description that is not JSON", "INFO {x}\r\n"],
    ["a description of another form", 'INFO {"version":"x"}\r\n'],
    ["a header whose name is invalid", "HMSG INBOX 1 19 19\r\nNATS/1.0\r\na b: 1\r\n\r\n"],
  ])(
    "A program that sends %s loses the connection, and the process prints nothing.",
    async (_what, bytes) => {
      const print = vi.spyOn(console, "log");
      onTestFinished(() => print.mockRestore());
      const { target, connected, closed } = await start(
        afterHandshake((socket, text) => {
          const [, inbox = ""] = /PUB \S+ (\S+) /.exec(text) ?? [];
          socket.write(bytes.replace("INBOX", inbox));
        }),
      );
      await expect(createSender().send("a", target)).rejects.toMatchObject({
        code: "NATS_PROTOCOL",
        message: "the server sent bytes that are not part of the protocol",
      });
      await expect.poll(closed).toBe(connected());
      expect(print).not.toHaveBeenCalled();
    },
  );

  test("A program that ends the connection instead of a reply fails the attempt at once.", async () => {
    const { target } = await start(afterHandshake((socket) => socket.destroy()));
    await expect(createSender().send("a", target)).rejects.toMatchObject({ code: "NATS_DISCONNECTED" });
  });

  test("A program at the port of a target does not delay others.", async () => {
    const dead = await start(() => {});
    const { send } = createSender({ timeoutMs: 2_000 });
    const late = send("a", dead.target).catch((error: Error) => error.name);
    const refused = await start((socket) => socket.end());
    await expect(send("a", refused.target)).rejects.toMatchObject({ code: "NATS_PROTOCOL" });
    expect(await Promise.race([late, Promise.resolve("waiting")])).toBe("waiting");
    await late;
  });
});

describe("the target guard", () => {
  test.each([
    "nats://127.0.0.1/a",
    "nats://0x7f.1/a",
    "nats://[::1]/a",
    "tls://10.0.0.1/a",
    "nats://169.254.169.254/a",
  ])("The target guard refuses %s.", async (target) => {
    const { send } = createSender({ allowPrivateTargets: false });
    await expect(send("a", target)).rejects.toMatchObject({ code: "TARGET_REFUSED" });
  });

  test("The target guard refuses a name with a private address, and connects to the checked address.", async () => {
    const { port, connected } = await start((socket) => socket.end());
    const addresses = [{ address: "127.0.0.1", family: 4 }];
    const named = `nats://nats.example:${port}/chain`;
    const lookup = async () => addresses;
    await expect(createSender({ allowPrivateTargets: false }, lookup).send("a", named)).rejects.toMatchObject(
      {
        code: "TARGET_REFUSED",
      },
    );
    expect(connected()).toBe(0);
    await expect(createSender({}, lookup).send("a", named)).rejects.toMatchObject({ code: "NATS_PROTOCOL" });
    expect(connected()).toBe(1);
  });
});

const isSkipped = skips(missingForNats());

describe.skipIf(isSkipped)("an encrypted connection", () => {
  test("An encrypted connection requires a certificate that is trusted and names the host.", async () => {
    const folder = mkdtempSync(join(tmpdir(), "uniknode-nats-tls-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
    execFileSync(
      "openssl",
      [
        ...[
          "req",
          "-x509",
          "-newkey",
          "rsa:2048",
          "-nodes",
          "-keyout",
          key,
          "-out",
          certificate,
          "-days",
          "2",
        ],
        ...["-subj", "/CN=nats.example", "-addext", "subjectAltName=DNS:nats.example"],
      ],
      { stdio: "ignore" },
    );
    const server = await startNatsServer({ more: `tls { cert_file: "${certificate}", key_file: "${key}" }` });
    onTestFinished(server.remove);
    const lookup = async () => [{ address: "127.0.0.1", family: 4 }];
    const to = (host: string, scheme: string) =>
      server.urlOf("nowhere", { scheme, user: "admin:admin" }).replace("127.0.0.1", host);
    const { send } = createSender({}, lookup);
    await expect(send("a", to("nats.example", "tls"))).rejects.toMatchObject({
      code: "DEPTH_ZERO_SELF_SIGNED_CERT",
    });

    const trusted = getCACertificates("default");
    setDefaultCACertificates([...trusted, readFileSync(certificate, "utf8")]);
    onTestFinished(() => setDefaultCACertificates(trusted));
    // The server replies over the encrypted connection that no stream has the subject.
    for (const scheme of ["tls", "nats"]) {
      await expect(send("a", to("nats.example", scheme))).rejects.toMatchObject({ code: "NATS_NO_STREAM" });
    }
    await expect(send("a", to("other.example", "tls"))).rejects.toMatchObject({
      code: "ERR_TLS_CERT_ALTNAME_INVALID",
    });
  });

  test("An encrypted connection is not replaced by a plain one.", async () => {
    const server = await startNatsServer();
    onTestFinished(server.remove);
    await expect(createSender().send("a", server.urlOf("chain", { scheme: "tls" }))).rejects.toMatchObject({
      code: "NATS_PROTOCOL",
      message: "the server does not offer TLS: use nats:// if the network is trusted",
    });
  });
});
