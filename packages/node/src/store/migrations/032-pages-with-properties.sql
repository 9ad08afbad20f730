-- Pages of the maps of uniks have five levels, and contain properties (facts/uniks/page.ts). The maps are built again in the background;
-- their roots, and the tree of facts, do not change.
DELETE FROM unik_map;
DELETE FROM unik_rows;
DELETE FROM unik_before;
