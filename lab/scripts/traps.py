#!/usr/bin/env python3
"""Files with the traps that people's files had, to try commands, topics and serving with.

    scripts/traps.py telco > telco.csv           customers that repeat, one label "Maybe", blanks among the charges
    scripts/traps.py housing > housing.csv       semicolons, decimal commas, a column that all but equals the label
    scripts/traps.py taxi > taxi.csv             heavy tails of which the label is a sum, dates with times
    scripts/traps.py telco --json                objects of JSON, a line each; one in fifty has the key "tenurre"
    scripts/traps.py telco --quoted              each line in quotes as a whole

Always the same for a seed. Nothing but Python is needed.
"""

import argparse
import csv
import datetime
import io
import json
import math
import random
import sys


def telco(r, rows):
    """Churn is a wave of tenure and charges; a customer has about three rows."""
    for i in range(rows):
        customer, tenure, charges = r.randrange(rows // 3), r.randrange(73), round(18 + 100 * r.random(), 2)
        contract = r.choices(["Month-to-month", "One year", "Two year"], [5, 2, 3])[0]
        risk = math.cos(tenure / 9) + math.sin(charges / 14) + (contract == "Month-to-month") - 0.9
        yield {
            "customerID": f"{customer:04d}-{'ABCDEFGHIJ'[customer % 10]}XYZ", "gender": r.choice(["Male", "Female"]),
            "SeniorCitizen": r.choice([0, 0, 0, 1]), "tenure": tenure, "Contract": contract,
            "PaymentMethod": r.choice(["Electronic check", "Mailed check", "Bank transfer", "Credit card"]), "MonthlyCharges": charges,
            "TotalCharges": round(tenure * charges, 2) if tenure else None, "Churn": "Maybe" if i == rows // 4 else "Yes" if risk + r.gauss(0, 0.5) > 0 else "No",
        }


def housing(r, rows):
    """price_with_fees is the price but for a few euros."""
    for _ in range(rows):
        area, age, floor = round(r.uniform(25, 180), 1), r.randrange(120), r.randrange(9)
        lat, lon = round(r.uniform(52.4, 52.6), 4), round(r.uniform(13.2, 13.6), 4)
        price = 2500 * area * (1.3 + math.cos(24 * (lat - 52.5)) * math.cos(14 * (lon - 13.4))) * (1 - 0.004 * min(age, 60)) * math.exp(r.gauss(0, 0.12))
        yield {
            "area": area, "rooms": max(1, round(area / 27)), "age": age, "floor": floor, "latitude": lat, "longitude": lon,
            "heating": r.choice(["gas", "district", "oil", "heat pump"]), "price_with_fees": round(1.07 * price + r.gauss(0, 20), 2), "price": round(price, 2),
        }


def taxi(r, rows):
    """The fare is linear in distance and minutes, both with heavy tails, and higher at night."""
    at = datetime.datetime(2024, 1, 1)
    for _ in range(rows):
        at += datetime.timedelta(seconds=r.expovariate(1 / 90))
        miles = round(r.lognormvariate(0.7, 1.1), 2)
        minutes = 2 + 3 * miles * r.lognormvariate(0, 0.3)
        fare = 3 + 1.75 * miles + 0.6 * minutes + 2.5 * (at.hour >= 20 or at.hour < 6) + r.gauss(0, 0.3)
        yield {
            "pickup": at.isoformat(sep=" ", timespec="seconds"), "dropoff": (at + datetime.timedelta(minutes=minutes)).isoformat(sep=" ", timespec="seconds"),
            "passengers": r.choices([1, 2, 3, 5], [7, 2, 1, 1])[0], "miles": miles, "minutes": round(minutes, 1), "zone": r.randrange(1, 264),
            "payment": r.choice(["card", "card", "cash"]), "fare": round(fare, 2),
        }


def lines(rows, german):
    """The lines of a CSV file."""
    text = io.StringIO()
    table = csv.writer(text, delimiter=";" if german else ",", lineterminator="\n")
    for row in rows:
        if not text.tell():
            table.writerow(row)
        table.writerow(["" if v is None else str(v).replace(".", ",") if german and isinstance(v, float) else v for v in row.values()])
    return text.getvalue().splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", choices=["telco", "housing", "taxi"])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quoted", action="store_true")
    o = parser.parse_args()
    rows = {"telco": telco, "housing": housing, "taxi": taxi}[o.file](random.Random(o.seed), o.rows)
    if o.json:
        for i, row in enumerate(rows):
            if i % 50 == 49 and "tenure" in row:
                row["tenurre"] = row.pop("tenure")
            print(json.dumps(row))
        return
    for line in lines(rows, o.file == "housing"):
        print('"' + line.replace('"', '""') + '"' if o.quoted else line)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.stderr.close()
