/** Large answers travel compressed when the client asks for it (http-api.md 1.5). */
import { promisify } from "node:util";
import { deflate, gzip } from "node:zlib";
import type { Server } from "../app.ts";

/** Smaller answers gain nothing. */
const MIN_BYTES = 1024;

/** In order of preference. */
const ENCODERS = { gzip: promisify(gzip), deflate: promisify(deflate) } as const;
type Encoding = keyof typeof ENCODERS;

export function addCompression(app: Server): void {
  app.addHook("onSend", async (request, reply, payload) => {
    if (typeof payload !== "string" || Buffer.byteLength(payload) < MIN_BYTES) return payload;
    reply.header("vary", "accept-encoding");
    const encoding = encodingFor(request.headers["accept-encoding"]);
    if (encoding === undefined) return payload;
    reply.header("content-encoding", encoding);
    return ENCODERS[encoding](payload);
  });
}

/** The best encoding that a header admits. */
export function encodingFor(header: string | string[] | undefined): Encoding | undefined {
  const accepted = new Set(
    String(header ?? "")
      .split(",")
      .map((entry) => entry.split(";").map((part) => part.trim().toLowerCase()))
      .filter(([, ...parameters]) => !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)))
      .map(([name]) => name),
  );
  return (Object.keys(ENCODERS) as Encoding[]).find((encoding) => accepted.has(encoding));
}
