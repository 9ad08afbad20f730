/** Checks what a server sends before the library parses it: the library prints errors of its parser to the standard output. */
import { parseExternal } from "../../platform/json/external.ts";
import { formOf } from "../../platform/json/form.ts";
import { type Static, Type } from "../../platform/json/schema.ts";
import { natsLibrary, type ParserEvent } from "./library.ts";

const Info = Type.Object({
  version: Type.String({ pattern: "^\\d+\\.\\d+\\.\\d+", maxLength: 100 }),
  max_payload: Type.Integer({ minimum: 1 }),
  headers: Type.Literal(true),
  tls_required: Type.Optional(Type.Boolean()),
  tls_available: Type.Optional(Type.Boolean()),
});
const INFO = formOf(Info);

/** Maximum size of the description that a server sends of itself; that of a server without a cluster has 500 bytes. */
export const MAX_INFO_BYTES = 32_768;
const INFO_BOUNDS = { maxCharacters: MAX_INFO_BYTES, maxDepth: 8, maxValues: 4_000 };

/**
 * Parses the description that a server sends of itself.
 *
 * @throws {ExternalDataError}
 */
export const parseInfo = (text: string): Static<typeof Info> => parseExternal(text, INFO, INFO_BOUNDS);

/** Bytes that the server can still send before the connection ends; each request renews them. */
export type ReceiveBudget = { remainingBytes: number };

/** Cost of an operation of the protocol, and of a description, beside their bytes: a ping has six bytes. */
const OPERATION_BYTES = 256;

/**
 * Creates a check for the bytes of one connection; it throws an error if they do not follow the protocol, or cost more than
 * the budget.
 */
export function createProtocolCheck(budget: ReceiveBudget): (bytes: Uint8Array) => void {
  const { Kind, MsgHdrsImpl, Parser } = natsLibrary();
  const parser = new Parser({
    push(event) {
      const { kind, msg, data = new Uint8Array() } = event as ParserEvent;
      budget.remainingBytes -= kind === Kind.INFO ? MAX_INFO_BYTES : OPERATION_BYTES;
      if (budget.remainingBytes < 0) throw new Error("the server sends too much");
      if (kind === Kind.INFO) parseInfo(Buffer.from(data).toString());
      // Throws an error if a name of a header is invalid.
      if (kind === Kind.MSG && msg && msg.hdr > 0) MsgHdrsImpl.decode(data.subarray(0, msg.hdr));
    },
  });
  return (bytes) => parser.parse(bytes);
}
