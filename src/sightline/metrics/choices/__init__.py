"""Multiple choice: which option a reply chose, and whether it is the right one."""
