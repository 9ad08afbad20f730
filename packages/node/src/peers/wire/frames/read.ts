/** Reading of frames into messages (p2p.md 2.2, 2.3), whatever pieces the bytes arrive in. */
import { WireError } from "../error.ts";
import { applyMask, OPCODES } from "./frame.ts";
import { createGatheredBytes } from "./gather.ts";
import { decodeFrameHeader, type FrameHeader, MAX_HEADER_BYTES } from "./header.ts";

/** A whole text, or the end that the other side announces with its code, if it gives one. */
export type Received =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "close"; readonly closeCode: number | undefined };

export type FrameReaderOptions = {
  /** Whether the other side is a client, whose frames are masked. */
  isMasked: boolean;
  /** Limit of one message over all its fragments. */
  maxBytes: number;
};

export type FrameReader = {
  /**
   * What is complete with these bytes, in order; to be read to the end. After an error or a close frame everything
   * is ignored.
   *
   * @throws {WireError} FRAME_*, MESSAGE_TOO_LARGE, MESSAGE_ENCODING
   */
  read(bytes: Uint8Array): Generator<Received, void, undefined>;
  /** Applies from the next frame on. */
  setMaxBytes(maxBytes: number): void;
};

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Holds no more than the bytes of one message that have arrived, twice. */
export function createFrameReader({ isMasked, maxBytes }: FrameReaderOptions): FrameReader {
  const head = createGatheredBytes();
  const message = createGatheredBytes();
  const control = createGatheredBytes();
  let limit = maxBytes;
  let header: FrameHeader | undefined;
  /** Payload bytes of the current frame that have arrived. */
  let arrived = 0;
  let isFragmented = false;
  let isEnded = false;

  /** Answers how many of the bytes belong to the head of a frame. */
  function readHeader(bytes: Uint8Array): number {
    const before = head.length();
    const candidate = Buffer.concat([head.take(), bytes.subarray(0, MAX_HEADER_BYTES - before)]);
    const decoded = decodeFrameHeader(candidate, isMasked);
    if (!decoded) {
      head.append(candidate);
      return candidate.length - before;
    }
    checkOrder(decoded);
    header = decoded;
    arrived = 0;
    return decoded.byteLength - before;
  }

  function checkOrder({ opcode, payloadBytes }: FrameHeader): void {
    if (opcode === OPCODES.close) return;
    if ((opcode === OPCODES.continuation) !== isFragmented) {
      throw new WireError("FRAME_ORDER", "a fragment is out of place");
    }
    if (message.length() + payloadBytes > limit) {
      throw new WireError("MESSAGE_TOO_LARGE", `a message is longer than ${limit} bytes`);
    }
  }

  function readPayload(bytes: Uint8Array, { opcode, payloadBytes, maskKey }: FrameHeader): number {
    const piece = bytes.subarray(0, payloadBytes - arrived);
    const copy = (opcode === OPCODES.close ? control : message).append(piece);
    if (maskKey) applyMask(copy, maskKey, arrived);
    arrived += piece.length;
    return piece.length;
  }

  /** What a complete frame completes. */
  function finish({ opcode, isFinal }: FrameHeader): Received | undefined {
    header = undefined;
    if (opcode === OPCODES.close) {
      isEnded = true;
      return { kind: "close", closeCode: closeCodeOf(control.take()) };
    }
    isFragmented = !isFinal;
    return isFinal ? { kind: "text", text: textOf(message.take()) } : undefined;
  }

  return {
    setMaxBytes: (bytes) => {
      limit = bytes;
    },
    *read(bytes) {
      let rest = bytes;
      try {
        while (!isEnded) {
          if (!header) {
            if (rest.length === 0) return;
            rest = rest.subarray(readHeader(rest));
            if (!header) return;
          }
          rest = rest.subarray(readPayload(rest, header));
          if (arrived < header.payloadBytes) return;
          const received = finish(header);
          if (received) yield received;
        }
      } catch (error) {
        isEnded = true;
        throw error;
      }
    },
  };
}

function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new WireError("MESSAGE_ENCODING", "a message is no UTF-8");
  }
}

/** RFC 6455 section 7.4: the codes that may stand in a frame. */
function closeCodeOf(payload: Uint8Array): number | undefined {
  if (payload.length === 0) return undefined;
  const code = payload.length === 1 ? 0 : (payload[0]! << 8) | payload[1]!;
  const isAllowed = (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) || code >= 3000;
  if (!isAllowed || code > 4999) throw new WireError("FRAME_CLOSE", "a close frame has no valid code");
  return code;
}
