/** The accounts of a dev chain, whose keys are public, so that programs can send from them. */
import { type Static, Type } from "../../platform/json/schema.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import { described, single } from "../documentation/route.ts";

const Account = Type.Object(
  {
    address: Type.String(),
    passphrase: Type.String({
      description: "Public knowledge: never send anything of value to this account.",
    }),
    publicKey: Type.String(),
    unik: Type.Optional(
      Type.Object({ id: Type.String(), kind: Type.Enum(["individual", "organization", "network"]) }),
    ),
  },
  { title: "DevAccount" },
);
const Accounts = Type.Object(
  {
    accounts: Type.Array(Account, { description: "Funded by the first blocks." }),
    delegates: Type.Array(Account),
    factory: Type.Object(Account.properties, {
      description: "Its unik certifies mints, updates and disclosures.",
    }),
    foundation: Account,
  },
  { title: "DevAccounts" },
);

type Member = Readonly<Static<typeof Account>>;

export type AccountList = {
  readonly accounts: readonly Member[];
  readonly delegates: readonly Member[];
  readonly factory: Member;
  readonly foundation: Member;
};

/** Access and refusals that the descriptions of all dev routes contain. */
export const WITH_TOKEN = { security: [{ token: [] }] };
export const DEV_REFUSALS = { 401: "Wrong token.", 403: "The chain is not a dev chain." };

/** @param accounts undefined on a node that is not a dev chain: the route then refuses with the reason */
export function addAccountRoute(app: Server, accounts: AccountList | undefined): void {
  const summary = "Returns the accounts with their passphrases.";
  const schema = described("Dev", summary, single(Accounts), WITH_TOKEN, DEV_REFUSALS);
  app.get("/dev/accounts", { schema }, () => {
    if (!accounts) {
      throw new HttpError("DEV_ONLY", "accounts are known only for dev chains: start one with npm start");
    }
    return { data: { ...accounts, accounts: [...accounts.accounts], delegates: [...accounts.delegates] } };
  });
}
