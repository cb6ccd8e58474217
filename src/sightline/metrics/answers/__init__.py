"""Answers in free text: exact, normalised, numeric, dates, yes/no and lists, in any of the languages given."""
