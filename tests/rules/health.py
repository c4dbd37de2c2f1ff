"""Runs the health rules of deploy/argo and deploy/flux on cases.json, as the two tools run them.

Prints a line for each case that differs, and at the end how many were right; ends with 1 if one was not.
"""

import json
import sys
from pathlib import Path

import cel
import lupa.lua51
import yaml

here = Path(__file__).resolve().parent
deploy = here.parent.parent / "deploy"
script = (deploy / "argo/health.lua").read_text()
(rules,) = yaml.safe_load((deploy / "flux/kustomization.yaml").read_text())["spec"]["healthCheckExprs"]


def argo(binding):
    """The status that the script returns. Argo CD opens no library that touches the machine."""
    lua = lupa.lua51.LuaRuntime(register_eval=False, register_builtins=False)
    lua.globals().obj = lua.table_from(binding, recursive=True)
    return lua.execute(script)["status"]


def flux(binding):
    """The order of Flux's evaluator: the generation first, then inProgress, failed and current."""
    observed = binding.get("status", {}).get("observedGeneration")
    if observed is not None and observed != binding["metadata"]["generation"]:
        return "InProgress"
    for rule, status in (("inProgress", "InProgress"), ("failed", "Failed"), ("current", "Current")):
        if rule in rules and cel.evaluate(rules[rule], binding):
            return status
    return "InProgress"


def binding(case):
    """The object as the tools get it: without a status where there is none."""
    made = {"metadata": {"name": "a", "generation": case["generation"]}, "spec": {}}
    return made if case["status"] is None else made | {"status": case["status"]}


wrong = 0
right = 0
for case in json.loads((here / "cases.json").read_text()):
    for tool, evaluate in (("argo", argo), ("flux", flux)):
        # None: the tool cannot tell, and says so itself.
        if case[tool] is None:
            continue
        found = evaluate(binding(case))
        if found == case[tool]:
            right += 1
        else:
            wrong += 1
            print(f"{tool}: a Binding that {case['name']} is {found}, and should be {case[tool]}")
print(f"{right} right, {wrong} wrong")
sys.exit(1 if wrong or not right else 0)
