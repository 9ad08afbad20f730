/** Unik, as a page to share: owner, names, properties and history. */
import type { Client, Unik, WithTransactions } from "@uniknode/client";
import { useState } from "preact/hooks";
import { useRoute } from "preact-iso/router";
import { shortened } from "../../components/format.ts";
import { Address, hrefOf, TransactionId, UnikId } from "../../components/identifier.tsx";
import { loadable } from "../../components/loadable.tsx";
import { Facts, Page } from "../../components/page.tsx";
import { ResponseView } from "../../components/states.tsx";
import { UnikFace } from "../../components/uniks/unik-face.tsx";
import { unikTypeText } from "../../components/uniks/unik-types.ts";
import { useNode, useResponse } from "../../data/node.ts";
import { Properties } from "./properties.tsx";
import { PropertyHistory } from "./property-history.tsx";
import "./unik.css";

const Seal = loadable(() => import("../../proofs/seal.tsx"), "part");
const Share = loadable(() => import("./share.tsx"), "part");

/** Kinds of transactions of a unik, with the texts of their buttons. */
const ACTIONS = [
  ["update", "Change"],
  ["transfer-unik", "Transfer"],
  ["disclose", "Disclose"],
] as const;

export default function UnikScreen() {
  const { api } = useNode();
  const { id = "" } = useRoute().params;
  const response = useResponse(`unik ${id}`, () => readUnik(api, id));
  const { unik } = response.value ?? {};
  return (
    <Page
      kind="Unik"
      title={unik?.defaultExplicitValue ?? shortened(id)}
      aside={
        unik &&
        ACTIONS.map(([kind, text]) => (
          <a
            key={kind}
            class="button"
            href={`/console/send?kind=${kind}&from=${unik.ownerId}&unik=${unik.id}`}
          >
            {text}
          </a>
        ))
      }
    >
      <ResponseView response={response} what="The unik">
        {({ unik, properties }) => (
          <>
            <Portrait unik={unik} />
            <UnikFacts unik={unik} />
            <Properties properties={properties} />
            <PropertyHistory id={unik.id} />
          </>
        )}
      </ResponseView>
    </Page>
  );
}

/** Maximum number of properties on the page; the API returns no more at once. */
const LIMIT = 100;

/** Reads both, so that the page does not move while it is read. */
async function readUnik(api: Client, id: string) {
  const [unik, properties] = await Promise.all([
    api.uniks.get(id),
    api.uniks.properties(id).page({ limit: LIMIT }),
  ]);
  return { unik: unik.data, properties: properties.data.flatMap((property) => Object.entries(property)) };
}

type UnikProps = { readonly unik: Unik & WithTransactions };

/** Introduces the unik, and offers its link. */
function Portrait({ unik: { id, type, ownerId, transactions } }: UnikProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <section class="card portrait" aria-label="Unik">
      <div class="seal">
        <Seal kind="transaction" what="last change" id={transactions.last.id} />
      </div>
      <UnikFace id={id} />
      <p class="sentence">
        A unik of the type {unikTypeText(type)}, owned by <Address address={ownerId} />.
      </p>
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Share</summary>
        {isOpen && <Share link={`${location.origin}${hrefOf.unik(id)}`} />}
      </details>
    </section>
  );
}

const UnikFacts = ({ unik: { id, explicitValues = [], transactions } }: UnikProps) => (
  <Facts
    facts={[
      ["Id", <UnikId key="id" id={id} isWhole />],
      ["Other names", explicitValues.slice(1).join(", ") || undefined],
      ["Mint transaction", <TransactionId key="first" id={transactions.first.id} isWhole />],
      [
        "Last change",
        transactions.last.id !== transactions.first.id && <TransactionId id={transactions.last.id} isWhole />,
      ],
    ]}
  />
);
