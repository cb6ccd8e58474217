-- Of the rest of the row, see corpus/store.py. Rows of before have none.
ALTER TABLE pictures ADD COLUMN checksum INTEGER;
