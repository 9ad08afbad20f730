/** The registered transaction types under the names that answers use (http-api.md 4.4). */
import { findRule } from "@uniknode/ledger";
import type { Network } from "@uniknode/protocol";

export type NamedType = { readonly typeGroup: number; readonly type: number; readonly key: string };

/** Number of types by group: core, magistrate, NFT, UNS. */
const GROUPS: readonly (readonly [typeGroup: number, types: number])[] = [
  [1, 11],
  [2, 7],
  [2000, 3],
  [2001, 7],
];

const TYPES: readonly NamedType[] = GROUPS.flatMap(([typeGroup, types]) =>
  Array.from({ length: types }, (_, type) => ({ typeGroup, type, key: keyOfType(typeGroup, type) })),
);

/** Types that transactions on top of the height may have. */
export function activeTypes(network: Network, height: number): readonly NamedType[] {
  const milestone = network.milestoneAt(height);
  return TYPES.filter(({ typeGroup, type }) => findRule(typeGroup, type)?.isActive(milestone, network));
}

export function keyOfType(typeGroup: number, type: number): string {
  return findRule(typeGroup, type)?.key ?? `${typeGroup}/${type}`;
}
