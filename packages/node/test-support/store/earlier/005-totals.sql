-- Totals that lists of the API show, kept instead of counted: the time of an answer must not grow with the chain.

-- Transactions up to and with the block of each height.
CREATE TABLE block_ends (height INTEGER PRIMARY KEY, transactions INTEGER NOT NULL) STRICT;
INSERT INTO block_ends SELECT height, SUM(number_of_transactions) OVER (ORDER BY height) FROM blocks;

CREATE TRIGGER blocks_end AFTER INSERT ON blocks BEGIN
  INSERT INTO block_ends VALUES (
    NEW.height,
    NEW.number_of_transactions
      + coalesce((SELECT transactions FROM block_ends WHERE height = NEW.height - 1), 0)
  );
END;
CREATE TRIGGER blocks_no_end AFTER DELETE ON blocks BEGIN
  DELETE FROM block_ends WHERE height = OLD.height;
END;

-- Transactions by type.
CREATE TABLE type_totals (
  type_group INTEGER NOT NULL,
  type INTEGER NOT NULL,
  transactions INTEGER NOT NULL,
  PRIMARY KEY (type_group, type)
) STRICT, WITHOUT ROWID;
INSERT INTO type_totals SELECT type_group, type, COUNT(*) FROM transactions GROUP BY type_group, type;

CREATE TRIGGER transactions_counted AFTER INSERT ON transactions BEGIN
  INSERT INTO type_totals VALUES (NEW.type_group, NEW.type, 1)
    ON CONFLICT DO UPDATE SET transactions = transactions + 1;
END;
CREATE TRIGGER transactions_uncounted AFTER DELETE ON transactions BEGIN
  UPDATE type_totals SET transactions = transactions - 1
    WHERE type_group = OLD.type_group AND type = OLD.type;
  DELETE FROM type_totals WHERE type_group = OLD.type_group AND type = OLD.type AND transactions = 0;
END;

-- Tokens by their type.
CREATE INDEX properties_type ON properties (value) WHERE key = 'type';
