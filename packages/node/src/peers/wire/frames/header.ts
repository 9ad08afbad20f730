/** The head of a frame, as soon as enough bytes of it are there (RFC 6455 section 5.2). */
import { WireError } from "../error.ts";
import { MAX_CONTROL_BYTES, OPCODES } from "./frame.ts";

export type FrameHeader = {
  opcode: number;
  isFinal: boolean;
  payloadBytes: number;
  maskKey: Uint8Array | undefined;
  /** Bytes of the head itself. */
  byteLength: number;
};

/** No head is longer. */
export const MAX_HEADER_BYTES = 14;

/**
 * Undefined while bytes are missing; what is wrong is told as early as it can be seen.
 *
 * @throws {WireError} FRAME_UNKNOWN, FRAME_MASK, FRAME_CONTROL, FRAME_BINARY, FRAME_ORDER
 */
export function decodeFrameHeader(bytes: Uint8Array, isMasked: boolean): FrameHeader | undefined {
  const [first, second] = bytes;
  if (first === undefined) return undefined;
  const opcode = first & 0x0f;
  const isFinal = first >= 0x80;
  checkKind(first);
  if (second === undefined) return undefined;
  if (second >= 0x80 !== isMasked) {
    throw new WireError(
      "FRAME_MASK",
      isMasked ? "a client's frame is not masked" : "a server's frame is masked",
    );
  }
  const short = second & 0x7f;
  if (opcode === OPCODES.close && (!isFinal || short > MAX_CONTROL_BYTES)) {
    throw new WireError("FRAME_ORDER", "a close frame is split or too long");
  }
  const extraBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const byteLength = 2 + extraBytes + (isMasked ? 4 : 0);
  if (bytes.length < byteLength) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, byteLength);
  const payloadBytes =
    extraBytes === 2 ? view.getUint16(2) : extraBytes === 8 ? Number(view.getBigUint64(2)) : short;
  const maskKey = isMasked ? bytes.slice(byteLength - 4, byteLength) : undefined;
  return { opcode, isFinal, payloadBytes, maskKey, byteLength };
}

function checkKind(first: number): void {
  const opcode = first & 0x0f;
  const isKnown = Object.values<number>(OPCODES).includes(opcode);
  if ((first & 0x70) !== 0 || !isKnown) {
    throw new WireError("FRAME_UNKNOWN", "a frame has reserved bits or an unknown opcode");
  }
  if (opcode === OPCODES.ping || opcode === OPCODES.pong) {
    throw new WireError("FRAME_CONTROL", "WebSocket pings and pongs are not used");
  }
  if (opcode === OPCODES.binary) throw new WireError("FRAME_BINARY", "only text carries messages");
}
