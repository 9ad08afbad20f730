/** Registration as a command and as code. */

import type { Form } from "../../../components/equivalent-forms.tsx";
import { curlOf, programOf, quoted } from "../../../components/equivalents.ts";
import { type Draft, needsValue, registrationOf } from "./draft.ts";

export function formsOf(draft: Draft, origin: string): readonly Form[] {
  const registration = registrationOf(draft);
  const statement = `const { data } = await client.webhooks.create(${JSON.stringify(registration, null, 2)});`;
  return [
    { id: "curl", title: "curl", text: curlOf("POST", `${origin}/api/v2/webhooks`, registration) },
    { id: "client", title: "JavaScript", text: programOf(statement, origin) },
    { id: "command", title: "Command line", text: commandOf(draft) },
  ];
}

function commandOf(draft: Draft): string {
  const { name, events, conditions, match, target, order, confirmations, proof } = draft;
  const words = [
    ...(name.trim() === "" ? [] : [`--name ${quoted(name.trim())}`]),
    ...events.map((event) => `--event ${quoted(event)}`),
    ...conditions
      .filter(({ key }) => key !== "")
      .map(({ key, condition, value }) =>
        quoted([key, condition, ...(needsValue(condition) ? [value] : [])].join(" ")),
      )
      .map((condition) => `--condition ${condition}`),
    ...(match === "all" && conditions.length > 1 ? ["--match all"] : []),
    ...(order === "strict" ? ["--order strict"] : []),
    ...(confirmations > 0 ? [`--confirmations ${confirmations}`] : []),
    ...(proof ? ["--proof"] : []),
  ];
  return ["uniknode webhooks create", quoted(target.trim()), ...words].join(" ");
}
