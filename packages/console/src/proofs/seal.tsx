/** Seal of a block or a transaction: the page itself verified the proof, so that the user need not trust the node. */
import { useRef } from "preact/hooks";
import { Badge } from "../components/badge.tsx";
import { Icon } from "../components/icon.tsx";
import { absoluteText } from "../components/time.tsx";
import { useNode, useResponse } from "../data/node.ts";
import { type Signer, useSigner } from "../signing/signer.ts";
import { type Seal, type Subject, verifySubject } from "./verify.ts";

export default function SealView(subject: Subject) {
  const signer = useSigner();
  return signer ? <Verified {...subject} verify={signer.verify} /> : <Waiting />;
}

function Verified({ kind, id, verify }: Subject & Pick<Signer, "verify">) {
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
  return value ? <Verdict seal={value} kind={kind} /> : <Waiting />;
}

const Waiting = () => <span class="quiet">Verifying the proof …</span>;

function Verdict({ seal, kind }: { seal: Seal; kind: Subject["kind"] }) {
  if (seal.state === "unavailable") return <span class="quiet">No proof is available yet.</span>;
  if (seal.state === "refused") {
    return (
      <>
        <Badge tone="bad">Proof refused</Badge> <span>Do not trust this node: {seal.reason}.</span>
      </>
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
        <Icon name="check" /> Verified by this page
      </Badge>{" "}
      <span>
        The {kind} is final: the page verified the signatures of {signers} delegates. {trust}
      </span>
    </>
  );
}
