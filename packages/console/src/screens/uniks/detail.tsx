/** Unik: owner, properties and history. */
import { useRoute } from "preact-iso/router";
import { shortened } from "../../components/format.ts";
import { Address, TransactionId, UnikId } from "../../components/identifier.tsx";
import { Facts, Page, Section } from "../../components/page.tsx";
import { Empty, ResponseView } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { unikTypeText } from "../../components/uniks/unik-types.ts";
import { useNode, useResponse } from "../../data/node.ts";
import { PropertyHistory } from "./property-history.tsx";

/** Number of properties per API page. */
const LIMIT = 100;

export default function UnikScreen() {
  const { api } = useNode();
  const { id = "" } = useRoute().params;
  const response = useResponse(`unik ${id}`, () => api.uniks.get(id));
  const unik = response.value?.data;
  return (
    <Page
      kind="Unik"
      title={unik?.defaultExplicitValue ?? shortened(id)}
      aside={
        unik && (
          <a class="button" href={`/console/send?kind=update&from=${unik.ownerId}&unik=${unik.id}`}>
            Change
          </a>
        )
      }
    >
      <ResponseView response={response} what="The unik">
        {({ data }) => (
          <>
            <Facts
              facts={[
                ["Id", <UnikId key="id" id={data.id} isWhole />],
                ["Type", unikTypeText(data.type)],
                [
                  "Names",
                  data.explicitValues && data.explicitValues.length > 0 && data.explicitValues.join(", "),
                ],
                ["Owner", <Address key="owner" address={data.ownerId} isWhole />],
                ["Minted by", <TransactionId key="first" id={data.transactions.first.id} isWhole />],
                ["Last updated by", <TransactionId key="last" id={data.transactions.last.id} isWhole />],
              ]}
            />
            <Properties id={data.id} />
            <PropertyHistory id={data.id} />
          </>
        )}
      </ResponseView>
    </Page>
  );
}

function Properties({ id }: { id: string }) {
  const { api } = useNode();
  const response = useResponse(`unik ${id} properties`, () =>
    api.uniks.properties(id).page({ limit: LIMIT }),
  );
  return (
    <Section title="Properties">
      <ResponseView response={response} what="The properties">
        {({ data }) => (
          <Table
            caption="Properties of the unik"
            columns={[
              { title: "Key", cell: ([key]) => <code>{key}</code> },
              { title: "Value", cell: ([, value]) => <span class="text">{value}</span> },
            ]}
            rows={data.flatMap((property) => Object.entries(property))}
            keyOf={([key]) => key}
            empty={<Empty title="This unik has no properties" />}
          />
        )}
      </ResponseView>
    </Section>
  );
}
