/** Generates the page of the scenarios that `uniknode conform` plays. */
import { GROUPS } from "../packages/node/src/conform/run.ts";

const TITLES: Readonly<Record<string, string>> = {
  acceptance: "Acceptance: single deliveries",
  verification: "Verification: forged, old and rotated requests",
  repetition: "Repetition: duplicates, epochs, order, replays",
  retractions: "Retractions: reverted blocks",
  restarts: "Restarts, with --restart",
};

/** Returns the content of docs/reference/scenarios.md. */
export const scenariosPage = (): string =>
  [
    "# Scenarios of uniknode conform",
    "",
    "`uniknode conform URL` plays these scenarios, in this order ([guide](../guides/conform.md)). Names are stable: reports and `--only` use them.",
    "",
    ...Object.entries(GROUPS).flatMap(([group, scenarios]) => [
      `## ${TITLES[group] ?? group}`,
      "",
      "| scenario | the receiver passes if | otherwise |",
      "|---|---|---|",
      ...scenarios.map(
        ({ name, rule, change, section }) =>
          `| \`${name}\` | ${rule} ([rule](${section.replace("docs/", "../")})) | ${change} |`,
      ),
      "",
    ]),
  ].join("\n");
