/** Frames of a client that is not a peer: the handshake of a session on the peer port, and further messages. */

export const UPGRADE =
  "GET /socketcluster/ HTTP/1.1\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
  "Connection: Upgrade\r\nUpgrade: websocket\r\nHost: x\r\n\r\n";

/** Text frame with a zero mask, which can announce more bytes than it contains. */
export function frame(text: string, announcedBytes = text.length): Buffer {
  const head = Buffer.alloc(14);
  head[0] = 0x81;
  head[1] = 0xff;
  head.writeBigUInt64BE(BigInt(announcedBytes), 2);
  return Buffer.concat([head, Buffer.from(text)]);
}

const HANDSHAKE = frame('{"event":"#handshake","data":{"authToken":null},"cid":1}');
/** Upgrade and handshake in one message. */
export const HELLO = Buffer.concat([Buffer.from(UPGRADE), HANDSHAKE]);
