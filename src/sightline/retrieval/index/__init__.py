"""An index in a folder of the workspace: rows, words, columns, vectors; built, and brought up to date."""
