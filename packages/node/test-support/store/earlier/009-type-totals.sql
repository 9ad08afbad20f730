-- The transaction store counts the types of a block at once: a trigger for each transaction took as long as its insertion.
DROP TRIGGER transactions_counted;
DROP TRIGGER transactions_uncounted;
