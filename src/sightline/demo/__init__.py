"""A first look at one's own pictures; the demo of the synthetic world is in the package sightline-world."""
