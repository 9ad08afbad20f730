/**
 * Drafts and signs transactions, splits their bytes, and verifies proofs, in its own thread. A passphrase is in memory only while it signs.
 * The worker makes no requests.
 */

import { verifyProof } from "@uniknode/client/proofs";
import { createNetwork, type Network, type NetworkFiles } from "@uniknode/protocol";
import { errorText } from "../components/error-text.ts";
import { draftingOf, OrderError, requiredFeeOf, signOrder, walletOf } from "./build.ts";
import { fieldsOf } from "./fields.ts";
import type { Question, Reply, Request } from "./messages.ts";

let network: Network;

addEventListener("message", ({ data: { number, question } }: MessageEvent<Request>) => {
  postMessage({ number, ...replyTo(question) } satisfies Reply);
});

function replyTo(question: Question): Omit<Reply, "number"> {
  try {
    return { value: resultOf(question) };
  } catch (error) {
    if (error instanceof OrderError) return { fault: error.fault };
    return { failure: errorText(error) };
  }
}

function resultOf(question: Question): unknown {
  switch (question.ask) {
    case "open":
      // Response of the node, validated with a schema.
      network = createNetwork(question.files as unknown as NetworkFiles);
      return undefined;
    case "draft":
      return draftingOf(network, question.order, question.terms);
    case "fee":
      return requiredFeeOf(network, question);
    case "fields":
      return fieldsOf(question.transaction);
    case "verify":
      return verifyProof(question.proof, question.checkpoint, question.options);
    case "wallet":
      return walletOf(network, question.passphrase);
    case "sign":
      return signOrder(network, question.order, question.terms, question.signatory, question.passphrases);
  }
}
