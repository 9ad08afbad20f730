/** Signs and submits payments from accounts of the dev chain, one at a time. */

import type { DevAccount, RawTransaction } from "@uniknode/client";
import { useState } from "preact/hooks";
import { announce } from "../../components/announce.tsx";
import { errorText } from "../../components/error-text.ts";
import { useNode } from "../../data/node.ts";
import type { Order } from "../../signing/order.ts";
import { OUTCOMES } from "../../signing/outcome.tsx";
import { type Posted, postOne } from "../../signing/post.ts";
import { readSender } from "../../signing/sender.ts";
import { useSigner } from "../../signing/signer.ts";

export type Payment = {
  /** False until the signing code is loaded, and the height is known, which decides about the version of the bytes. */
  readonly canPay: boolean;
  readonly isBusy: boolean;
  /** Last payment that the node responded to. */
  readonly paid: { readonly signed: RawTransaction; readonly posted: Posted } | undefined;
  /** Reason why the last payment was not submitted. */
  readonly failure: string | undefined;
  pay(account: DevAccount, order: Order): Promise<void>;
};

export function usePayment(): Payment {
  const { api, head, poll } = useNode();
  const signer = useSigner();
  const [isBusy, setBusy] = useState(false);
  const [paid, setPaid] = useState<Payment["paid"]>();
  const [failure, setFailure] = useState<string>();

  async function pay(account: DevAccount, order: Order): Promise<void> {
    const height = head.peek()?.height;
    if (!signer || height === undefined || isBusy) return;
    setBusy(true);
    setPaid(undefined);
    setFailure(undefined);
    try {
      const { address, publicKey: senderPublicKey, passphrase } = account;
      const { nextNonce, wallet } = await readSender(api, address);
      const terms = { senderPublicKey, nonce: nextNonce, height };
      const signatory = { address, secondPublicKey: wallet.secondPublicKey ?? undefined };
      const signed = await signer.sign(order, terms, signatory, { passphrase, second: "" });
      const posted = await postOne(api, signed);
      setPaid({ signed, posted });
      announce(OUTCOMES[posted.became]);
      poll();
    } catch (error) {
      setFailure(errorText(error));
    } finally {
      setBusy(false);
    }
  }

  return { canPay: signer !== undefined && head.value !== undefined, isBusy, paid, failure, pay };
}
