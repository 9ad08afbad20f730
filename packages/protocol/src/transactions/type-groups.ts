/** Numbers of the groups of transaction types (transactions.md 6.1); a transaction without a group is of the core. */
export const TYPE_GROUPS = { core: 1, magistrate: 2, nft: 2000, uns: 2001 } as const;
