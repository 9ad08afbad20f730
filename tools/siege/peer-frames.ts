/** Frames of a client that is no peer: the handshake of a session on the peer port, and what follows. */

export const UPGRADE =
  "GET /socketcluster/ HTTP/1.1\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
  "Connection: Upgrade\r\nUpgrade: websocket\r\nHost: x\r\n\r\n";

/** A masked text frame whose mask is zero, of which more may be announced than comes. */
export function frame(text: string, announcedBytes = text.length): Buffer {
  const head = Buffer.alloc(14);
  head[0] = 0x81;
  head[1] = 0xff;
  head.writeBigUInt64BE(BigInt(announcedBytes), 2);
  return Buffer.concat([head, Buffer.from(text)]);
}

const HANDSHAKE = frame('{"event":"#handshake","data":{"authToken":null},"cid":1}');
/** The upgrade and the handshake in one. */
export const HELLO = Buffer.concat([Buffer.from(UPGRADE), HANDSHAKE]);
