/** A checkpoint of this node as text and as QR code, for programs and devices that verify proofs. */
import { useSignal } from "@preact/signals";
import { checkpointText, createCheckpoint } from "@uniknode/client/proofs";
import { CodeBlock } from "../../components/code-block.tsx";
import { refusalText } from "../../components/error-text.ts";
import { Section } from "../../components/page.tsx";
import { QrCodeView } from "../../components/qr-code.tsx";
import { useNode } from "../../data/node.ts";

type State =
  | { readonly name: "none" | "working" }
  | { readonly name: "failed"; readonly reason: string }
  | { readonly name: "created"; readonly text: string };

export default function Checkpoint() {
  const { api } = useNode();
  const state = useSignal<State>({ name: "none" });
  async function create(): Promise<void> {
    state.value = { name: "working" };
    try {
      state.value = { name: "created", text: checkpointText(await createCheckpoint(api)) };
    } catch (error) {
      state.value = { name: "failed", reason: refusalText(error) };
    }
  }
  const { value } = state;
  return (
    <Section
      title="Checkpoint"
      aside={
        <button type="button" disabled={value.name === "working"} onClick={create}>
          Create a checkpoint
        </button>
      }
    >
      <p>
        A program with a checkpoint of a node that you trust verifies the responses of every other node (
        <a href="/console/docs/guides/proofs">guide</a>). It is valid for 30 days.
      </p>
      {value.name === "failed" && <p role="alert">Failed to create a checkpoint: {value.reason}.</p>}
      {value.name === "created" && <Created text={value.text} />}
    </Section>
  );
}

const Created = ({ text }: { text: string }) => (
  <div class="checkpoint">
    <QrCodeView text={text} label="The checkpoint as a QR code" />
    <CodeBlock text={text} what="checkpoint" />
  </div>
);
