"""What is known of each picture of an index, column by column, for filters."""
