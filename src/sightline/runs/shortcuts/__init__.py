"""Can labels be told without looking at content? What is known of pictures beside it, and a model of that."""
