"""One module for each part of the app; each function answers one address."""
