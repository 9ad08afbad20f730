/**
 * Drafts, signs and shows bytes, in a thread of its own: a passphrase is in its memory while it signs, and nowhere else. It makes no
 * requests.
 */
import { createNetwork, type Network, type NetworkFiles } from "@uniknode/protocol";
import { draftOf, OrderError, signOrder, walletOf } from "./build.ts";
import { fieldsOf } from "./fields.ts";
import type { Answer, Question, Request } from "./messages.ts";

let network: Network;

addEventListener("message", ({ data: { number, question } }: MessageEvent<Request>) => {
  postMessage({ number, ...answerTo(question) } satisfies Answer);
});

function answerTo(question: Question): Omit<Answer, "number"> {
  try {
    return { value: resultOf(question) };
  } catch (error) {
    if (error instanceof OrderError) return { fault: error.fault };
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

function resultOf(question: Question): unknown {
  switch (question.ask) {
    case "open":
      // The node's own answer, which it reads with a schema.
      network = createNetwork(question.files as unknown as NetworkFiles);
      return undefined;
    case "draft":
      return draftOf(network, question.order, question.terms);
    case "fields":
      return fieldsOf(question.transaction);
    case "wallet":
      return walletOf(network, question.passphrase);
    case "sign":
      return signOrder(network, question.order, question.terms, question.signatory, question.passphrases);
  }
}
