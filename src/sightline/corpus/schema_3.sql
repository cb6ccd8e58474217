-- Films are read now, and records of a Takeout are known: what was no picture is looked at once more.
UPDATE files SET reader = '' WHERE reason = 'not a picture';
