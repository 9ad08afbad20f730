-- Parts of the properties of each token in the order of keys, and their numbers of properties: a page finds its first property, and the number of
-- all, by the parts. A part of level 1 has up to 512. If a token has several, those of level 2 have up to 32,768. Statements that add or remove
-- properties update them; a part from which all were removed stays.

CREATE TABLE property_parts (
  token TEXT NOT NULL,
  level INTEGER NOT NULL,
  first TEXT NOT NULL,                        -- the part has the keys from this one up to the next part of its level; '' in the first part
  number INTEGER NOT NULL,                    -- of properties
  PRIMARY KEY (token, level, first)
) STRICT, WITHOUT ROWID;

-- A statement with OR REPLACE would add a property without removing the earlier one: values are changed with ON CONFLICT DO UPDATE.
CREATE TRIGGER properties_inserted AFTER INSERT ON properties BEGIN
  UPDATE property_parts SET number = number + 1 WHERE token = new.token AND level = 1
    AND first = (SELECT max(first) FROM property_parts WHERE token = new.token AND level = 1 AND first <= new.key);
  INSERT INTO property_parts SELECT new.token, 1, '', 1 WHERE changes() = 0;
  UPDATE property_parts SET number = number + 1 WHERE token = new.token AND level = 2
    AND first = (SELECT max(first) FROM property_parts WHERE token = new.token AND level = 2 AND first <= new.key);
END;

CREATE TRIGGER properties_deleted AFTER DELETE ON properties BEGIN
  UPDATE property_parts SET number = number - 1 WHERE token = old.token AND level = 1
    AND first = (SELECT max(first) FROM property_parts WHERE token = old.token AND level = 1 AND first <= old.key);
  UPDATE property_parts SET number = number - 1 WHERE token = old.token AND level = 2
    AND first = (SELECT max(first) FROM property_parts WHERE token = old.token AND level = 2 AND first <= old.key);
END;

-- The new property is counted in level 2 after this.
CREATE TRIGGER property_part_full AFTER UPDATE OF number ON property_parts WHEN new.level = 1 AND new.number > 512 BEGIN
  INSERT INTO property_parts SELECT new.token, 2, '', new.number - 1
  WHERE NOT EXISTS (SELECT 1 FROM property_parts WHERE token = new.token AND level = 2 AND first = '');
  INSERT INTO property_parts SELECT token, 1, key, new.number - 256 FROM properties
  WHERE token = new.token AND key >= new.first ORDER BY key LIMIT 1 OFFSET 256;
  UPDATE property_parts SET number = 256 WHERE token = new.token AND level = 1 AND first = new.first;
END;

-- It has 64 parts of level 1 or more, and leaves those from the 48th on to a new part.
CREATE TRIGGER property_parts_full AFTER UPDATE OF number ON property_parts WHEN new.level = 2 AND new.number > 32768 BEGIN
  UPDATE property_parts SET number = (
    SELECT sum(number) FROM (
      SELECT number FROM property_parts WHERE token = new.token AND level = 1 AND first >= new.first ORDER BY first LIMIT 48
    )
  ) WHERE token = new.token AND level = 2 AND first = new.first;
  INSERT INTO property_parts SELECT token, 2, first, new.number - (
    SELECT number FROM property_parts WHERE token = new.token AND level = 2 AND first = new.first
  ) FROM property_parts
  WHERE token = new.token AND level = 1 AND first >= new.first ORDER BY first LIMIT 1 OFFSET 48;
END;
