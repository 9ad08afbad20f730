/** Frames of a WebSocket as this protocol uses them (RFC 6455, p2p.md 2.2): no extension, text only. */

export const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export type Frame = {
  opcode: number;
  payload: Uint8Array;
  /** False on all fragments of a message but the last one. */
  isFinal?: boolean;
  /** Four random bytes in front of what a client sends; none on what a server sends. */
  maskKey?: Uint8Array;
};

/** The longest payload of a close frame. */
export const MAX_CONTROL_BYTES = 125;

/** XORs bytes with the mask key, `offset` bytes of the payload being done before them. */
export function applyMask(bytes: Uint8Array, maskKey: Uint8Array, offset = 0): void {
  for (let index = 0; index < bytes.length; index++) {
    bytes[index] = bytes[index]! ^ maskKey[(offset + index) & 3]!;
  }
}
