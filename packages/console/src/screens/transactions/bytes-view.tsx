/** Bytes of a transaction as sent between nodes, with highlighted fields. */
import type { RawTransaction } from "@uniknode/client";
import { useState } from "preact/hooks";
import { CopyButton } from "../../components/copy-button.tsx";
import { bytesText, countText } from "../../components/format.ts";
import { Empty, ResponseView } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useResponse } from "../../data/node.ts";
import type { Field } from "../../signing/fields.ts";
import { useSigner } from "../../signing/signer.ts";
import "./transaction.css";

const COLUMNS: readonly Column<Field>[] = [
  { title: "Byte", cell: ({ offset }) => countText(offset), isNumber: true },
  { title: "Length", cell: ({ bytes }) => countText(bytes.length), isNumber: true, narrow: "2c" },
  { title: "Field", cell: ({ name }) => name, narrow: "1a" },
  { title: "Value", cell: ({ value }) => <span class="text">{value}</span>, narrow: "2a" },
];

const NO_FIELDS: readonly Field[] = [];

export default function BytesView({ transaction }: { transaction: RawTransaction }) {
  const signer = useSigner();
  const response = useResponse(
    signer && `bytes ${transaction.id}`,
    // Unsupported types have no fields; this is not a failure of the node.
    async () => (await signer?.fieldsOf(transaction).catch(() => undefined)) ?? NO_FIELDS,
    { lasts: "session" },
  );
  return (
    <ResponseView response={response} what="The bytes">
      {(fields) =>
        fields.length === 0 ? (
          <Empty title="The bytes cannot be shown">
            This version of the console does not support this transaction type.
          </Empty>
        ) : (
          <Marked fields={fields} />
        )
      }
    </ResponseView>
  );
}

function Marked({ fields }: { fields: readonly Field[] }) {
  const [marked, setMarked] = useState<string>();
  const size = fields.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const text = fields.map(({ bytes }) => hexOf(bytes)).join("");
  return (
    <>
      <p class="quiet">
        {bytesText(size)}. Their SHA-256 is the id. <CopyButton text={text} what="bytes" />
      </p>
      <div class="card bytes">
        {fields.map(({ name, bytes }, index) => (
          <span
            key={name}
            title={name}
            class={name === marked ? "marked" : index % 2 === 0 ? "even" : undefined}
            onPointerEnter={() => setMarked(name)}
            onPointerLeave={() => setMarked(undefined)}
          >
            {hexOf(bytes)}
          </span>
        ))}
      </div>
      <Table
        caption="Fields, in byte order"
        columns={COLUMNS}
        rows={fields}
        keyOf={({ name }) => name}
        classOf={({ name }) => (name === marked ? "marked" : undefined)}
        empty={undefined}
      />
    </>
  );
}

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
