"""Tools of an agent: for histories of pictures, for looking closely at one, and for the web (docs/tools.md)."""
