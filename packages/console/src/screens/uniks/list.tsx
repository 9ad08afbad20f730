/** List of uniks, and the ones that were minted last. */
import type { Client, TokenSearch, Transaction, Unik } from "@uniknode/client";
import { ExportButtons } from "../../components/export/export-button.tsx";
import { addressFault, idFault } from "../../components/faults.ts";
import { areValid, Filters } from "../../components/filters.tsx";
import { shortened } from "../../components/format.ts";
import { hrefOf } from "../../components/identifier.tsx";
import { useListState } from "../../components/list-state.ts";
import { Page, Section } from "../../components/page.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { Empty } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { UnikFace } from "../../components/uniks/unik-face.tsx";
import { UnikTable } from "../../components/uniks/unik-table.tsx";
import { unikTypeText } from "../../components/uniks/unik-types.ts";
import { useNode, useResponse } from "../../data/node.ts";
import "./unik.css";

const FIELDS = [
  { name: "id", label: "Id", placeholder: "64 hexadecimal digits", faultOf: idFault },
  { name: "owner", label: "Owner", placeholder: "Address", faultOf: addressFault },
];

export default function Uniks() {
  const { api } = useNode();
  const { query } = useListState();
  const search = searchOf(query);
  const list = () => api.uniks.search(search);
  return (
    <Page
      title="Uniks"
      aside={areValid(FIELDS, query) && <ExportButtons name="uniks" rows={() => rowsOf(list())} />}
    >
      {Object.keys(query).length === 0 && <Gallery />}
      <Filters fields={FIELDS}>
        <PagedList name={`uniks ${JSON.stringify(search)}`} list={list} what="uniks" lines={25}>
          {(uniks) => (
            <UnikTable
              caption="Uniks"
              uniks={uniks}
              empty={<Empty title="No unik matches">Clear the filters to see all uniks.</Empty>}
            />
          )}
        </PagedList>
      </Filters>
    </Page>
  );
}

/** Pictures of the uniks that were minted last; keeps its height while they load. */
function Gallery() {
  const { api } = useNode();
  const { value } = useResponse("uniks minted last", () => newestUniks(api));
  return (
    <Section title="Minted last">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by the keyboard */}
      <section class="gallery" aria-label="Minted last" tabIndex={0}>
        {value?.map(({ id, defaultExplicitValue, type, mintedMs }) => (
          <a key={id} class="card" href={hrefOf.unik(id)} title={defaultExplicitValue ?? id}>
            <UnikFace id={id} />
            <b>{defaultExplicitValue ?? shortened(id, 6, 4)}</b>
            <span class="quiet">{unikTypeText(type)}</span>
            <span class="quiet">
              <Time timeMs={mintedMs} />
            </span>
          </a>
        ))}
      </section>
    </Section>
  );
}

const GALLERY = 12;
/** Plain and certified mints, as the API numbers them. */
const MINTS = [
  { typeGroup: 2000, type: 0 },
  { typeGroup: 2001, type: 3 },
];

/** Reads the newest mints and their uniks, newest first. */
async function newestUniks(api: Client) {
  const pages = await Promise.all(
    MINTS.map((kind) => api.transactions.search(kind).page({ limit: GALLERY })),
  );
  const times = new Map(
    pages
      .flatMap(({ data }) => data)
      .sort((a, b) => timeOf(b) - timeOf(a))
      .slice(0, GALLERY)
      .map((mint) => [mintedId(mint), timeOf(mint)]),
  );
  if (times.size === 0) return [];
  const { data } = await api.uniks.search({ id: [...times.keys()] }).page({ limit: GALLERY });
  return data
    .map((unik) => ({ ...unik, mintedMs: times.get(unik.id) ?? 0 }))
    .sort((a, b) => b.mintedMs - a.mintedMs);
}

const timeOf = ({ timestamp }: Transaction): number => (timestamp?.unix ?? 0) * 1_000;

const mintedId = ({ asset }: Transaction): string =>
  (asset as { readonly nft: { readonly unik: { readonly tokenId: string } } }).nft.unik.tokenId;

/** Parses the filters in the URL, all of which are valid. */
export function searchOf({ id, owner }: Readonly<Record<string, string>>): TokenSearch {
  return {
    ...(id && { id }),
    ...(owner && { ownerId: owner }),
  };
}

async function* rowsOf(uniks: AsyncIterable<Unik>) {
  for await (const { id, ownerId, type, explicitValues = [] } of uniks) {
    yield { id, owner: ownerId, type: unikTypeText(type), names: explicitValues.join(" ") };
  }
}
