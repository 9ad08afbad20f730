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

/** @param accounts undefined on a node that is not a dev chain: the route then refuses with the reason */
export function addAccountRoute(app: Server, accounts: AccountList | undefined): void {
  const schema = {
    ...described("Dev", "Returns the accounts with their passphrases.", single(Accounts)),
    response: {
      200: single(Accounts),
      401: Type.Object({}, { description: "Wrong token." }),
      403: Type.Object({}, { description: "The chain is not a dev chain." }),
    },
    security: [{ token: [] }],
  };
  app.get("/dev/accounts", { schema }, () => {
    if (!accounts) {
      throw new HttpError("DEV_ONLY", "accounts are known only for dev chains: start one with npm start");
    }
    return { data: { ...accounts, accounts: [...accounts.accounts], delegates: [...accounts.delegates] } };
  });
}
