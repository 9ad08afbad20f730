-- One row: information that the mirrored node returns about itself, as JSON texts. API servers read it when they start.
CREATE TABLE node_identity (
  is_single boolean PRIMARY KEY DEFAULT true CHECK (is_single),
  network_files text NOT NULL,                -- response data of /node/configuration/crypto
  configuration text NOT NULL                 -- response data of /node/configuration
);
