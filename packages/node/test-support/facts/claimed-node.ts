/** HTTP server that claims a tree of facts, as a node or a liar does, with a key of its own. */
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { logName, NoteSigner } from "../../src/facts/note.ts";
import { plainConsistency, plainRoot } from "./plain-tree.ts";

export type ClaimedNode = {
  readonly url: string;
  readonly verifierKey: string;
  /** Replaces the tree. */
  claim(leaves: readonly string[]): void;
  close(): void;
};

export type ClaimOptions = {
  readonly nethash?: string;
  /** Id of the last block in the checkpoint. */
  readonly blockId?: string;
  /** True if the proofs are wrong. */
  readonly isProofWrong?: boolean;
};

export async function claimTree(first: readonly string[], options: ClaimOptions = {}): Promise<ClaimedNode> {
  const { nethash = "ab".repeat(32), blockId = "cd".repeat(32), isProofWrong = false } = options;
  const signer = new NoteSigner(logName(nethash), generateKeyPairSync("ed25519").privateKey);
  let leaves = first;
  const checkpoint = () => {
    const [size, root, height] = [leaves.length, plainRoot(leaves), leaves.length];
    const note = signer.sign({ size, root, block: { height, id: blockId } });
    return { size, root: root.toString("hex"), height, id: blockId, note, verifierKey: signer.verifierKey };
  };
  const consistency = (from: number, to: number) => {
    if (to > leaves.length || from > to) return undefined;
    const proof = isProofWrong ? [plainRoot([])] : plainConsistency(from, leaves.slice(0, to));
    return { from, to, proof: proof.map((hash) => hash.toString("hex")) };
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://node.example");
    const [from, to] = [Number(searchParams.get("from")), Number(searchParams.get("to"))];
    const data = pathname.endsWith("/checkpoint") ? checkpoint() : consistency(from, to);
    response.writeHead(data ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify({ data }));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    verifierKey: signer.verifierKey,
    claim(next) {
      leaves = next;
    },
    close: () => void server.close().closeAllConnections(),
  };
}
