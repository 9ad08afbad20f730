/** Static fees as answers list them. */

/** The old network always answers these for its group 2: its types were never used with other fees. */
export const ENTITY_FEES = {
  entityRegistration: "5000000000",
  entityResignation: "500000000",
  entityUpdate: "500000000",
} as const;
