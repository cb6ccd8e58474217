"""What is told of people."""

from __future__ import annotations

from sightline_world.web.property import Property

PEOPLE = (
    Property(
        "person",
        "born_in",
        "Born in",
        ("{s} was born in {v}.", "{s} comes from {v}.", "{s} grew up in {v}, where the family had a house."),
        "the birthplace of {x}",
        "Which town is the birthplace of {x}?",
        lists="Born here",
    ),
    Property(
        "person",
        "born",
        "Year of birth",
        ("The year of birth was {v}.", "{s} was born in {v}."),
        "the year of birth of {x}",
        "What is the year of birth of {x}?",
    ),
    Property(
        "person",
        "first_coach",
        "First coach",
        ("{s} learnt the game from {v}.", "The first coach of {s} was {v}."),
        "the first coach of {x}",
        "Who was the first coach of {x}?",
        "the player whose first coach was {x}",
        "Whose first coach was {x}?",
        "First coach of",
    ),
    Property(
        "person",
        "keeps",
        "Keeps",
        ("At home {s} keeps {v}.", "{s} is known for breeding {v}."),
        "the breed kept by {x}",
        "Which breed is kept by {x}?",
    ),
    Property(
        "person",
        "favourite",
        "Favourite dish",
        ("Asked for a favourite dish, {s} names {v}.", "{s} never says no to {v}."),
        "the favourite dish of {x}",
        "What is the favourite dish of {x}?",
    ),
    Property(
        "person",
        "painting",
        "Favourite painting",
        ("The favourite painting of {s} is {v}.", "Over the desk of {s} there is a print of {v}, much loved."),
        "the favourite painting of {x}",
        "What is the favourite painting of {x}?",
        lists="Favourite painting of",
    ),
    Property(
        "person",
        "team",
        "Team",
        ("{s} plays for {v}.", "The team of {s} is {v}."),
        "the team of {x}",
        "What is the team of {x}?",
        lists="Players",
    ),
    Property(
        "person",
        "number",
        "Shirt number",
        ("The number on the shirt is {v}.", "{s} wears the number {v}."),
        "the shirt number of {x}",
        "What is the shirt number of {x}?",
    ),
    Property(
        "person",
        "lives_in",
        "Lives in",
        ("{s} now lives in {v}.", "Home today is {v}."),
        "the present home of {x}",
        "Which town is the present home of {x}?",
        lists="Living here",
    ),
)
