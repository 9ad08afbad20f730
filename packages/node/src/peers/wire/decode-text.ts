/** Decodes the bytes of a message. */
import { StringDecoder } from "node:string_decoder";

/** Bytes of a step: less than a millisecond. */
const STEP = 1024 * 1024;

/**
 * Decodes UTF-8, a long message in steps. The first step of a long message is empty: the event-loop tick that received
 * it has joined, unmasked and checked its bytes.
 */
export function* decodeText(data: Buffer): Generator<void, string> {
  if (data.length <= STEP) return data.toString();
  const decoder = new StringDecoder("utf8");
  let text = "";
  for (let at = 0; at < data.length; at += STEP) {
    yield;
    text += decoder.write(data.subarray(at, at + STEP));
  }
  return text + decoder.end();
}
