"""Gives every schema of @lichess-org/types a type of its own name, because the generator of JSON schemas cannot follow
`components["schemas"]["Name"]`. Reads the declarations from the standard input and writes them to the standard output."""

import re
import sys

text = sys.stdin.read()
schemas = text.split("  schemas: {\n", 1)[1].split("\n  };\n", 1)[0]
names = re.findall(r"^    (\w+):", schemas, flags=re.MULTILINE)
types = re.sub(r"^    (\w+):", r"export type \1_ =", schemas, flags=re.MULTILINE)
paths = text.split("export type webhooks", 1)[0]
operations = "export interface operations {" + text.split("export interface operations {", 1)[1]
listed = "".join(f"  {name}: {name}_;\n" for name in names)
written = f"{types}\n{paths}\n{operations}\nexport interface Schemas {{\n{listed}}}\n"
written = re.sub(r'components\["schemas"\]\["(\w+)"\]', r"\1_", written)
# Parameters of requests, which nothing here compares.
print(re.sub(r'components\["\w+"\]\["\w+"\]', "unknown", written))
