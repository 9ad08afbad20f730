-- Retractions without an attempt, as in the node's database (store/migrations).
CREATE INDEX delivery_lanes_first_retractions ON delivery_lanes (webhook, number) WHERE lane = 'first' AND is_retraction;
