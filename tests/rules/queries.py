"""Parses the queries of alerts and dashboards, by the grammar of Prometheus.

Reads a JSON list of texts from standard input; prints a line for each that is no query, and at the end how many are right.
"""

import json
import sys

import promql_parser

queries = json.load(sys.stdin)
wrong = 0
for query in queries:
    try:
        promql_parser.parse(query)
    except ValueError as error:
        wrong += 1
        print(f"{query}: {error}")
print(f"{len(queries) - wrong} right, {wrong} wrong")
sys.exit(1 if wrong or not queries else 0)
