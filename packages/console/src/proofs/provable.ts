/** Height of the last block that no proof can contain: the id of the genesis block, its parent, can be forged. */
export const LAST_UNPROVEN_HEIGHT = 2;
