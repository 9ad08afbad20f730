/** Seal of a block or a transaction: the page itself verified the proof, so that the user need not trust the node. */
import { useRef } from "preact/hooks";
import { Badge } from "../components/badge.tsx";
import { Icon } from "../components/icon.tsx";
import { absoluteText } from "../components/time.tsx";
import { useNode, useResponse } from "../data/node.ts";
import { type Signer, useSigner } from "../signing/signer.ts";
import { type Seal, type Subject, verifySubject } from "./verify.ts";

type SealProps = Subject & {
  /** Shown instead of the kind. */
  readonly what?: string;
};

export default function SealView(props: SealProps) {
  const signer = useSigner();
  return signer ? <Verified {...props} verify={signer.verify} /> : <Waiting />;
}

function Verified({ kind, id, what = kind, verify }: SealProps & Pick<Signer, "verify">) {
  const { api, session, nowMs } = useNode();
  const isFinal = useRef(false);
  const { value: state } = session.state;
  const { value, error } = useResponse(
    state && `seal of ${kind} ${id}`,
    () => {
      const options = { nowMs: nowMs.peek(), keepsCheckpoint: state?.devChain !== true };
      return verifySubject({ api, verify }, { kind, id }, options);
    },
    { lasts: isFinal.current ? "session" : "head" },
  );
  isFinal.current = value?.state === "final";
  if (error && !value) return <span class="quiet">The node does not return the proof.</span>;
  return value ? <Verdict seal={value} what={what} /> : <Waiting />;
}

const Waiting = () => <span class="quiet">Verifying the proof …</span>;

function Verdict({ seal, what }: { seal: Seal; what: string }) {
  if (seal.state === "unavailable") return <span class="quiet">No proof is available yet.</span>;
  if (seal.state === "refused") {
    return (
      <p class="refused" role="alert">
        <Icon name="warning" />
        <span>
          <b>Proof refused.</b> The delegates have not signed what this node shows ({seal.reason}): do not
          rely on it, and compare with another node.
        </span>
      </p>
    );
  }
  const { state, signers, quorum, sinceMs } = seal;
  const trust =
    sinceMs === undefined
      ? "On a dev chain, the node has the keys of all delegates."
      : `The node cannot imitate them; this browser trusts them since ${absoluteText(sinceMs)}.`;
  if (state === "included") {
    return (
      <>
        <Badge tone="warning">Not final yet</Badge>{" "}
        <span>
          {signers} of {quorum} necessary delegates have signed at or above the block. {trust}
        </span>
      </>
    );
  }
  return (
    <>
      <Badge tone="good">
        <Icon name="check" /> Proof verified
      </Badge>{" "}
      <span>
        The {what} is final: the page verified the signatures of {signers} delegates. {trust}
      </span>
    </>
  );
}
