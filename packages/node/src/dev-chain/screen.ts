/** Output of the dev chain on the terminal while it runs. */
import type { BlockHeader } from "@uniknode/protocol";
import { countOf } from "../platform/text/wording.ts";
import { formatAmount } from "./accounts.ts";
import { type Cast, DEV_SYMBOL } from "./network.ts";

export type ScreenContent = {
  /** Versions of protocol and program. */
  readonly versions: string;
  readonly baseUrl: string;
  /** URL that signs in at the console, once; undefined without a console. */
  readonly consoleUrl: string | undefined;
  readonly webhookToken: string;
  /** Command lines that show the token (unless it was given), every account, and events. */
  readonly commands: {
    readonly token: string | undefined;
    readonly accounts: string;
    readonly listen: string;
  };
  readonly data: string;
  readonly cast: Cast;
  /** Returns a balance at the head, in the smallest unit. */
  readonly balanceOf: (address: string) => bigint;
  readonly isContinued: boolean;
  readonly height: number;
};

const SHOWN_ACCOUNTS = 3;

/**
 * Returns the text at the start. It fits on a terminal of 24 lines, between the output of npm and the status
 * line.
 */
export function startScreen(content: ScreenContent): string {
  const { cast, baseUrl, commands } = content;
  return [
    `Uniknode (${content.versions}), dev chain${content.isContinued ? `, continued at height ${content.height}` : ""}`,
    "",
    ...(content.consoleUrl === undefined ? [] : [`Console        ${content.consoleUrl}`]),
    `API            ${baseUrl}/api/v2/blockchain`,
    `Documentation  ${baseUrl}/documentation`,
    `Webhook token  ${content.webhookToken}`,
    ...(commands.token === undefined ? [] : [`               show it again with: ${commands.token}`]),
    `Watch events   ${commands.listen}`,
    `Data           ${content.data}`,
    "",
    `Accounts (${Math.min(SHOWN_ACCOUNTS, cast.accounts.length)} of ${cast.accounts.length}; all, with delegates and uniks: ${commands.accounts})`,
    ...cast.accounts
      .slice(0, SHOWN_ACCOUNTS)
      .flatMap(({ address, passphrase }) => [
        `  ${address}  ${formatAmount(content.balanceOf(address))} ${DEV_SYMBOL}`,
        `    ${passphrase}`,
      ]),
    "",
    "These passphrases are public knowledge. Never send anything of value to them.",
    "Ctrl-C stops the chain. The next start continues it; --reset starts over.",
  ].join("\n");
}

export const revertLine = (blocks: number, height: number): string =>
  `reverted ${countOf(blocks, "blocks")}, back at height ${height}`;

export function blockLine(header: BlockHeader, forger: string | undefined): string {
  const count = header.numberOfTransactions;
  const content = count === 0 ? "empty" : countOf(count, "transactions");
  return `block ${header.height}  ${header.id.slice(0, 12)}  ${content}  by ${forger ?? header.generatorPublicKey}`;
}
