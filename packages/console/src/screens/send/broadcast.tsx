/** Form that sends externally signed transactions. */
import { useState } from "preact/hooks";
import { announce } from "../../components/announce.tsx";
import { Badge } from "../../components/badge.tsx";
import { CodeBlock } from "../../components/code-block.tsx";
import { Field } from "../../components/field.tsx";
import { TransactionId } from "../../components/identifier.tsx";
import { Section } from "../../components/page.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { titleOf } from "../../components/transactions/kinds.ts";
import { useNode } from "../../data/node.ts";
import { type Posted, post, reasonText } from "../../signing/post.ts";
import { MAX_CHARACTERS, MAX_TRANSACTIONS, readSigned, type SignedTransaction } from "./signed-json.ts";

export default function Broadcast() {
  const [text, setText] = useState("");
  const { transactions = [], fault } = readSigned(text);
  const { posted, isBusy, postAll, forget } = usePosting();

  function read(next: string): void {
    setText(next);
    forget();
  }

  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    if (fault === undefined) void postAll(transactions);
  }

  return (
    <div class="send-page">
      <form class="card send-fields" onSubmit={onSubmit}>
        <Field
          name="json"
          label="Signed transactions"
          rows={10}
          placeholder={'{ "id": "…", "type": 0, … "signature": "…" }'}
          value={text}
          onInput={read}
          fault={text === "" ? undefined : fault}
          hint={`One, or a list of up to ${MAX_TRANSACTIONS}, as the command line prints them with --dry-run --json. The console does not change them.`}
        />
        <div class="send-buttons">
          <button type="submit" class="primary" disabled={fault !== undefined || isBusy}>
            {transactions.length > 1 ? `Send ${transactions.length} transactions` : "Send"}
          </button>
          <FileButton onRead={read} />
        </div>
      </form>
      {transactions.length > 0 && (
        <Table
          caption="Transactions in this JSON"
          columns={columnsOf(posted)}
          rows={transactions}
          keyOf={({ id }) => id}
          empty={null}
        />
      )}
      <Section title="Equivalent commands and code">
        <CodeBlock text={`uniknode tx post FILE --url ${location.origin}`} what="command" />
        <CodeBlock text="await client.transactions.submit(transactions);" what="program" />
      </Section>
    </div>
  );
}

type Posting = {
  /** Outcomes of the transactions that were sent last. */
  readonly posted: readonly Posted[];
  readonly isBusy: boolean;
  postAll(transactions: readonly SignedTransaction[]): Promise<void>;
  /** Drops the outcomes. */
  forget(): void;
};

/** Sends transactions, one list at a time. */
function usePosting(): Posting {
  const { api, poll } = useNode();
  const [posted, setPosted] = useState<readonly Posted[]>([]);
  const [isBusy, setBusy] = useState(false);

  async function postAll(transactions: readonly SignedTransaction[]): Promise<void> {
    if (isBusy) return;
    setBusy(true);
    try {
      const became = await post(api, transactions);
      setPosted(became);
      const accepted = became.filter(({ became }) => became === "accepted").length;
      const isUncertain = became.some(({ became }) => became === "uncertain");
      announce(
        isUncertain
          ? "The node may have received the transactions."
          : `The node accepted ${accepted} of ${became.length}.`,
      );
      poll();
    } finally {
      setBusy(false);
    }
  }

  return { posted, isBusy, postAll, forget: () => setPosted([]) };
}

function FileButton({ onRead }: { onRead: (text: string) => void }) {
  async function onChange({ files, form }: HTMLInputElement): Promise<void> {
    const file = files?.[0];
    form?.reset();
    // Larger files are refused anyway, so the rest is not read.
    if (file) onRead(await file.slice(0, MAX_CHARACTERS + 1).text());
  }

  return (
    <label class="button">
      Read a file
      <input
        class="unseen"
        type="file"
        accept=".json,application/json"
        onChange={({ currentTarget }) => void onChange(currentTarget)}
      />
    </label>
  );
}

function columnsOf(posted: readonly Posted[]): readonly Column<SignedTransaction>[] {
  return [
    { title: "Id", cell: ({ id }) => <TransactionId id={id} /> },
    { title: "Type", cell: ({ type, typeGroup = 1 }) => titleOf({ type, typeGroup }) },
    { title: "Result", cell: ({ id }) => <Result posted={posted.find((one) => one.id === id)} /> },
  ];
}

const TONES = { accepted: "good", refused: "bad", uncertain: "warning" } as const;

function Result({ posted }: { posted: Posted | undefined }) {
  if (!posted) return <span class="quiet">not sent yet</span>;
  return (
    <>
      <Badge tone={TONES[posted.became]}>{posted.became}</Badge>{" "}
      {posted.became !== "accepted" && reasonText(posted.reasons)}
    </>
  );
}
