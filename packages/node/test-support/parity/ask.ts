/** Sends requests of the kit as they were recorded. */
import { request as send } from "node:http";
import { gunzipSync, inflateSync } from "node:zlib";
import type { Case, Json, NodeResponse } from "./case.ts";

/** Sends the request of a case byte for byte. */
export function ask(port: number, { request }: Case): Promise<NodeResponse> {
  return new Promise((resolve, reject) => {
    const { method, path, headers } = request;
    const body = bodyText(request.body);
    const outgoing = send(
      { host: "127.0.0.1", port, method, path, headers: { ...headers, ...lengthOf(body) } },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const encoding = incoming.headers["content-encoding"];
          const text = textOf(Buffer.concat(chunks), encoding);
          const flat = Object.entries(incoming.headers).map(([name, value]) => [name, value?.toString()]);
          resolve({
            status: incoming.statusCode ?? 0,
            headers: Object.fromEntries(flat),
            body: text === "" ? null : parse(text),
            text,
          });
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

function bodyText(body: Json): string | undefined {
  if (body === null) return undefined;
  if (typeof body === "string") return body;
  if (typeof body === "object" && !Array.isArray(body) && "$repeat" in body) {
    return String(body.$repeat).replace("#", "1".repeat(Number(body.count)));
  }
  return JSON.stringify(body);
}

function lengthOf(body: string | undefined): Record<string, string> {
  return body === undefined ? {} : { "content-length": `${Buffer.byteLength(body)}` };
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Text of a body as received. */
function textOf(body: Buffer, encoding: string | undefined): string {
  if (encoding === "gzip") return gunzipSync(body).toString();
  return (encoding === "deflate" ? inflateSync(body) : body).toString();
}
