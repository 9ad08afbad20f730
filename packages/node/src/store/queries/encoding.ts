/** Members that have no column, read in SQL from the canonical bytes of a transaction (transactions.md section 3). */

/** The byte at a position counted from 1, as an integer. */
const byteAt = (bytes: string, position: string): string => {
  const digit = (index: number) =>
    `(instr('123456789ABCDEF', substr(hex(substr(${bytes}, ${position}, 1)), ${index}, 1)))`;
  return `(${digit(1)} * 16 + ${digit(2)})`;
};

/** Integer; a version byte other than 1 is laid out as version 2. */
export const VERSION = byteAt("bytes", "2");

/** Position of the byte that holds the length of the vendorField (3.1 and 3.2). */
const VENDOR_FIELD_LENGTH_AT = `(CASE ${VERSION} WHEN 1 THEN 50 ELSE 59 END)`;
const VENDOR_FIELD_LENGTH = byteAt("bytes", VENDOR_FIELD_LENGTH_AT);

/** Text; null when there is none. Only three types carry one, in others the bytes have no meaning (section 4). */
export const VENDOR_FIELD = `(CASE WHEN type_group = 1 AND type IN (0, 6, 8) THEN
  nullif(CAST(substr(bytes, ${VENDOR_FIELD_LENGTH_AT} + 1, ${VENDOR_FIELD_LENGTH}) AS TEXT), '') END)`;

/** First byte of the payload, behind the vendorField. */
const PAYLOAD_AT = `(${VENDOR_FIELD_LENGTH_AT} + 1 + ${VENDOR_FIELD_LENGTH})`;
const PAYMENT_BYTES = 29;

/**
 * Whether a multi payment (6.3) pays the address, given twice as its 21 bytes. Payments are 8 bytes of amount and 21
 * of address, behind a count of 2 bytes. Searching the bytes first spares nearly every row the walk.
 */
export const PAYS = `type_group = 1 AND type = 6 AND instr(bytes, ?) > 0 AND EXISTS (
  WITH RECURSIVE payment (number) AS (
    SELECT 0 UNION ALL SELECT number + 1 FROM payment
    WHERE number + 1 < ${byteAt("bytes", PAYLOAD_AT)} + 256 * ${byteAt("bytes", `${PAYLOAD_AT} + 1`)}
  )
  SELECT 1 FROM payment WHERE substr(bytes, ${PAYLOAD_AT} + 10 + ${PAYMENT_BYTES} * number, 21) = ?)`;
