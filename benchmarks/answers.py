"""Free-text answers that rules decide: how many valid ones are refused (left to a judge), how many wrong ones accepted?

`python benchmarks/answers.py` prints the counts by kind and every case that rules refuse though it is valid, or accept
though it is wrong. The cases were written without looking at the rules or at their tests.
"""

from __future__ import annotations

from sightline.metrics.answers.match import match_answer
from sightline.types import Answer

VALID: dict[str, tuple[tuple[str, str], ...]] = {
    "clock times": (
        ("14:30", "2:30 pm"),
        ("9 am", "09:00"),
        ("quarter past six", "6:15"),
        ("half past ten", "10:30"),
        ("midnight", "00:00"),
        ("noon", "12:00 pm"),
        ("17:45", "a quarter to six in the evening"),
        ("08:05", "8.05 a.m."),
        ("下午三点", "15:00"),
    ),
    "numerals": (
        ("12", "twelve"),
        ("XIV", "14"),
        ("3", "There are three of them."),
        ("1000000", "1 million"),
        ("2,500", "2500"),
        ("0.5", "one half"),
        ("21", "twenty-one"),
        ("十二", "12"),
        ("75%", "75 percent"),
        ("dozen", "12"),
        ("1.5 million", "1,500,000"),
        ("42", "४२"),
    ),
    "ordinals": (
        ("3rd", "third"),
        ("21st", "twenty-first"),
        ("the second", "2nd"),
        ("5th floor", "fifth floor"),
        ("Louis XIV", "Louis the Fourteenth"),
        ("第三", "third"),
        ("19th century", "nineteenth century"),
        ("Elizabeth II", "Elizabeth the Second"),
    ),
    "scripts": (
        ("Beijing", "Běijīng"),
        ("São Paulo", "Sao Paulo"),
        ("Straße", "Strasse"),
        ("Zürich", "Zurich"),
        ("Łódź", "Lodz"),
        ("Москва", "МОСКВА"),
        ("東京", "东京"),
        ("Müller", "Mueller"),
        ("Αθήνα", "Αθηνα"),
    ),
    "abbreviations": (
        ("United States", "USA"),
        ("United Kingdom", "UK"),
        ("Doctor Smith", "Dr. Smith"),
        ("Saint Petersburg", "St. Petersburg"),
        ("Fifth Avenue", "5th Ave."),
        ("Mount Fuji", "Mt. Fuji"),
        ("World Health Organization", "WHO"),
        ("New York City", "NYC"),
        ("5 kilometres", "5 km"),
        ("Monday", "Mon"),
        ("Ford Motor Company", "Ford Motor Co."),
    ),
    "places inside places": (
        ("Paris", "Paris, France"),
        ("Kyoto", "Kyoto, Japan"),
        ("Springfield, Illinois", "Springfield, IL"),
        ("Berlin, Germany", "Berlin"),
        ("Soho, London", "Soho in London, England"),
        ("Lyon, France", "Lyon"),
    ),
}
WRONG: tuple[tuple[str, str], ...] = (
    ("14:30", "2:30 am"),
    ("9 am", "9 pm"),
    ("quarter past six", "5:45"),
    ("midnight", "12:00 pm"),
    ("12", "twenty"),
    ("XIV", "16"),
    ("2,500", "25,000"),
    ("0.5", "5"),
    ("75%", "0.75%"),
    ("3rd", "13th"),
    ("21st", "twenty-second"),
    ("Louis XIV", "Louis XVI"),
    ("19th century", "1900s"),
    ("São Paulo", "San Pablo"),
    ("東京", "京東"),
    ("United States", "UAE"),
    ("Saint Petersburg", "Saint Paul"),
    ("Mount Fuji", "Mount Fiji"),
    ("World Health Organization", "WTO"),
    ("5 kilometres", "5 miles"),
    ("Monday", "Month"),
    ("Paris", "Paris, Texas"),
    ("Soho, London", "London"),
    ("Kyoto", "Tokyo, Japan"),
    ("Springfield, Illinois", "Springfield, Ohio"),
    ("Berlin, Germany", "Germany"),
    ("Cambridge, England", "Cambridge, Massachusetts"),
)


def accepts(truth: str, reply: str) -> bool:
    """Do rules find the reply right?"""
    return match_answer(Answer(truth), reply).matched


def main() -> None:
    """Print the counts, and the cases that went wrong."""
    print("| kind | valid | left to a judge |\n|---|---|---|")
    left = {kind: [case for case in cases if not accepts(*case)] for kind, cases in VALID.items()}
    for kind, cases in left.items():
        print(f"| {kind} | {len(VALID[kind])} | {len(cases)} |")
    false = [case for case in WRONG if accepts(*case)]
    total = sum(map(len, VALID.values()))
    refused = sum(map(len, left.values()))
    print(f"of {total + len(WRONG)} cases {refused} of {total} valid left to a judge, {len(false)} falsely accepted")
    for truth, reply in (case for cases in left.values() for case in cases):
        print(f"left to a judge: {truth} / {reply}")
    for truth, reply in false:
        print(f"falsely accepted: {truth} / {reply}")


if __name__ == "__main__":
    main()
