/** Properties of a unik: badges, authentications, and the ones that its owner has set. */
import { Badge } from "../../components/badge.tsx";
import { Facts, Section } from "../../components/page.tsx";
import { Table } from "../../components/table.tsx";

/** Names of `LifeCycle/Status` (state.md 11). */
const STAGES: Readonly<Record<string, string>> = {
  1: "issued",
  2: "minted",
  3: "live",
  4: "aborted",
  100: "everlasting",
};

export type Property = readonly [key: string, value: string];

export function Properties({ properties }: { properties: readonly Property[] }) {
  const { badges, authentications, stage, own } = groupsOf(properties);
  const missing = badges.filter(([, value]) => value === "false").map(([key]) => nameOf(key));
  return (
    <Section title="Properties">
      <Facts
        facts={[
          [
            "Badges",
            <div key="badges" class="badges">
              {badges.map(([key, value]) => value !== "false" && <Chip key={key} property={[key, value]} />)}
              {missing.length > 0 && <span class="quiet">Not earned: {missing.join(", ")}</span>}
            </div>,
          ],
          [
            "Authentications",
            authentications.length > 0 && (
              <div class="badges">
                {authentications.map((property) => (
                  <Chip key={property[0]} property={property} />
                ))}
              </div>
            ),
          ],
          ["Life cycle", stage !== undefined && (STAGES[stage] ?? stage)],
        ]}
      />
      <Table
        caption="Properties of the unik"
        columns={[
          { title: "Key", cell: ([key]) => <code>{key}</code> },
          { title: "Value", cell: ([, value]) => <span class="text">{value}</span> },
        ]}
        rows={own}
        keyOf={([key]) => key}
        empty={<p class="quiet">The owner has not set other properties.</p>}
      />
    </Section>
  );
}

const Chip = ({ property: [key, value] }: { property: Property }) => (
  <Badge tone={value === "true" ? "good" : "plain"}>
    {nameOf(key)}
    {value !== "true" && ` ${value}`}
  </Badge>
);

/** Groups properties by their keys; type and names are shown elsewhere. */
export function groupsOf(properties: readonly Property[]) {
  const of = (family: string) => properties.filter(([key]) => key.startsWith(family));
  const stage = properties.find(([key]) => key === "LifeCycle/Status")?.[1];
  const own = properties.filter(
    ([key]) =>
      !/^(?:Badges|Authentications)\//.test(key) &&
      !["type", "explicitValues", "LifeCycle/Status"].includes(key),
  );
  return { badges: of("Badges/"), authentications: of("Authentications/"), stage, own };
}

/** Returns the last part of a key as words: `SecondPassphrase` is `Second passphrase`. */
export function nameOf(key: string): string {
  const words = key.slice(key.lastIndexOf("/") + 1).split(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/);
  return words
    .map((word, index) => (index > 0 && !/^[A-Z]+$/.test(word) ? word.toLowerCase() : word))
    .join(" ");
}
