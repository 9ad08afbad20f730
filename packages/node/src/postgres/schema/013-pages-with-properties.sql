-- Pages of the maps of uniks have five levels, and contain properties. The maps and the tree are built again.
TRUNCATE unik_map, unik_rows;
DELETE FROM facts;
