import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, getCACertificates, setDefaultCACertificates, type TLSSocket } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_POST_OPTIONS, HttpPost } from "../../../src/webhooks/delivery/post.ts";
import { freePort } from "../../../test-support/peers/world.ts";
import { missingProgram, skips } from "../../../test-support/process/available.ts";

const isSkipped = skips(missingProgram("openssl", ["version"]));
const LOOPBACK = [{ address: "127.0.0.1", family: 4 }];

/** Creates a certificate for receiver.example, which this process trusts until the test ends. */
function trustCertificate() {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-receiver-tls-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const subject = ["-subj", "/CN=receiver.example", "-addext", "subjectAltName=DNS:receiver.example"];
  const files = ["-keyout", key, "-out", certificate, "-days", "2"];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...files, ...subject], {
    stdio: "ignore",
  });
  const trusted = getCACertificates("default");
  setDefaultCACertificates([...trusted, readFileSync(certificate, "utf8")]);
  onTestFinished(() => setDefaultCACertificates(trusted));
  return { key, certificate };
}

function sender() {
  const options = { ...DEFAULT_POST_OPTIONS, allowPrivateTargets: true };
  const http = new HttpPost(options, async () => LOOPBACK);
  onTestFinished(() => http.close());
  return (target: string) =>
    http.post(
      { id: "msg_1", webhook: 1, target, isStrict: false, headers: {}, body: "{}" },
      new AbortController().signal,
    );
}

test.skipIf(isSkipped)(
  "An encrypted target must have a certificate for its name; its session is resumed.",
  async () => {
    const { key, certificate } = trustCertificate();
    const isResumed: boolean[] = [];
    const server = createServer(
      { key: readFileSync(key), cert: readFileSync(certificate) },
      (socket: TLSSocket) => {
        isResumed.push(socket.isSessionReused());
        socket
          .on("error", () => {})
          .once("data", () => {
            socket.end("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok");
          });
      },
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const send = sender();
    for (let count = 0; count < 2; count++) {
      expect(await send(`https://receiver.example:${port}/`)).toEqual({
        ...{ status: 200, excerpt: "ok" },
        headers: "connection: close\ncontent-length: 2",
      });
    }
    expect(isResumed).toEqual([false, true]);
    await expect(send(`https://other.example:${port}/`)).rejects.toMatchObject({
      code: "ERR_TLS_CERT_ALTNAME_INVALID",
    });
  },
);

test.skipIf(isSkipped)("A target that sends TLS sessions without an end loses the connection.", async () => {
  const { key, certificate } = trustCertificate();
  const port = await freePort();
  const server = spawn(
    "openssl",
    ["s_server", "-accept", `127.0.0.1:${port}`, "-key", key, "-cert", certificate, "-num_tickets", "1000"],
    { stdio: ["pipe", "pipe", "ignore"] },
  );
  onTestFinished(() => void server.kill());
  for await (const text of server.stdout.setEncoding("utf8")) if (text.includes("ACCEPT")) break;
  await expect(sender()(`https://receiver.example:${port}/`)).rejects.toMatchObject({
    code: "RESPONSE_TOO_LARGE",
    message: "the target sent more than 16 TLS sessions",
  });
});
