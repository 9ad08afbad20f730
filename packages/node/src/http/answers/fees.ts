/** Static fees in responses. */

/** Fees that the old network always returns for its group 2, whose types were never used with other fees. */
export const ENTITY_FEES = {
  entityRegistration: "5000000000",
  entityResignation: "500000000",
  entityUpdate: "500000000",
} as const;
