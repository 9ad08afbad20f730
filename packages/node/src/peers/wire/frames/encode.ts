/** Writing of frames (p2p.md 2.2). */
import { applyMask, type Frame, OPCODES } from "./frame.ts";

/** The bytes of a frame, its length in the shortest form. */
export function encodeFrame({ opcode, payload, isFinal = true, maskKey }: Frame): Uint8Array {
  const { length } = payload;
  const extraBytes = length < 126 ? 0 : length < 0x1_0000 ? 2 : 8;
  const start = 2 + extraBytes + (maskKey ? 4 : 0);
  const bytes = new Uint8Array(start + length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, (isFinal ? 0x80 : 0) | opcode);
  view.setUint8(1, (maskKey ? 0x80 : 0) | (extraBytes === 0 ? length : extraBytes === 2 ? 126 : 127));
  if (extraBytes === 2) view.setUint16(2, length);
  if (extraBytes === 8) view.setBigUint64(2, BigInt(length));
  bytes.set(payload, start);
  if (maskKey) {
    bytes.set(maskKey, start - 4);
    applyMask(bytes.subarray(start), maskKey);
  }
  return bytes;
}

/** A text in one frame. */
export const encodeTextFrame = (text: string, maskKey?: Uint8Array): Uint8Array =>
  encodeFrame({ opcode: OPCODES.text, payload: Buffer.from(text), ...(maskKey && { maskKey }) });

/** A close frame without a reason. */
export const encodeCloseFrame = (closeCode: number, maskKey?: Uint8Array): Uint8Array =>
  encodeFrame({
    opcode: OPCODES.close,
    payload: Uint8Array.of(closeCode >> 8, closeCode & 0xff),
    ...(maskKey && { maskKey }),
  });
