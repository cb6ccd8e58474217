"""Files and folders that survive a kill.

`files` (whole or not at all), `append_only_file`, `jsonl`, `locks`, `sqlite`, `checksums`, `temporary_files`.
"""
