/** The configurations of proxies in the guide, with the real programs, TLS and another port than 443. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { blocksOf } from "../../test-support/guides/page.ts";
import { freePort } from "../../test-support/peers/world.ts";
import { missingProgram, skips } from "../../test-support/process/available.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { until } from "../../test-support/process/until.ts";

const NGINX = "/usr/sbin/nginx";
const isSkipped = skips(missingProgram(NGINX, ["-v"]) ?? missingProgram("openssl", ["version"]));
const TOKEN = "proxies-test";

type Response = { readonly status: number; readonly headers: Record<string, unknown>; readonly body: string };

describe.skipIf(isSkipped)("through nginx", () => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-nginx-"));
  const file = (name: string) => join(folder, name);
  let node: Running;
  let nginx: ReturnType<typeof spawn>;
  let port: number;

  beforeAll(async () => {
    port = await freePort();
    node = spawnUniknode([
      ...["dev", "--data", file("data"), "--http-port", "0", "--block-time", "1", "--webhook-token", TOKEN],
      ...["--http-trust-proxy", "127.0.0.1", "--http-hosts", "node.example"],
    ]);
    const url = await apiUrlOf(node);
    const [location] = blocksOf("docs/guides/operations.md").filter(({ text }) => text.includes("# nginx"));
    const made = spawnSync("openssl", [
      ...[
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "1",
      ],
      ...["-keyout", file("key.pem"), "-out", file("cert.pem"), "-subj", "/CN=node.example"],
    ]);
    expect(made.status, `${made.stderr}`).toBe(0);
    mkdirSync(file("temp"));
    writeFileSync(
      file("nginx.conf"),
      `daemon off; pid ${file("pid")}; error_log stderr; events {}
      http {
        access_log off;
        ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${file("temp")};`).join(" ")}
        server {
          listen 127.0.0.1:${port} ssl http2;
          ssl_certificate ${file("cert.pem")}; ssl_certificate_key ${file("key.pem")};
          ${present(location).text.replace("http://127.0.0.1:4003", url)}
        }
      }`,
    );
    nginx = spawn(NGINX, ["-p", folder, "-c", file("nginx.conf")], { stdio: "inherit" });
    await until("the node is ready", async () => (await get("/health/ready")).status === 200);
  });
  afterAll(async () => {
    const ended = once(nginx, "exit");
    nginx.kill("SIGTERM");
    await ended;
    node.child.kill("SIGTERM");
    await node.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = (path: string, method: string, headers: Record<string, string> = {}, body = "") =>
    new Promise<Response>((resolve, reject) => {
      const host = `node.example:${port}`;
      const options = { host: "127.0.0.1", port, path, method, rejectUnauthorized: false };
      request({ ...options, headers: { host, ...headers } }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
      })
        .on("error", reject)
        .end(body);
    });
  const get = (path: string) => ask(path, "GET");

  test("A redirect stays on the host, the port and TLS of the proxy.", async () => {
    const { status, headers } = await get("/api/blocks/?limit=1");
    expect(status).toBe(301);
    const target = new URL(`${headers.location}`, `https://node.example:${port}/api/blocks/?limit=1`);
    expect(target.href).toBe(`https://node.example:${port}/api/blocks?limit=1`);
    expect((await get(target.pathname + target.search)).status).toBe(200);
  });

  test("A browser signs in at the console, with a secure cookie.", async () => {
    const { status, headers } = await ask(
      "/console/session",
      "POST",
      { "content-type": "application/json", origin: `https://node.example:${port}` },
      JSON.stringify({ token: TOKEN }),
    );
    expect(status).toBe(200);
    expect(`${headers["set-cookie"]}`).toMatch(/; Secure/);
  });

  test("Balancers get a response to OPTIONS.", async () => {
    for (const [method, path, status] of [
      ["GET", "/health/ready", 200],
      ["OPTIONS", "/health/ready", 200],
      ["OPTIONS", "/health/live", 200],
      ["OPTIONS", "/", 204],
    ] as const) {
      expect([path, (await ask(path, method)).status]).toEqual([path, status]);
    }
  });

  test("The live stream passes at once, over HTTP/2.", async () => {
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    const stream = session.request({ ":path": "/api/v2/events?events=block.applied", authorization: TOKEN });
    let text = "";
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    await expect.poll(() => text).toContain("event: block.applied");
    session.destroy();
  });
});
