# SPDX-License-Identifier: Apache-2.0
"""Prove the modules of the platform's RTL and refute the faults planted in them.

Run as ``python -m benchmarks.formal [--json] [MODULE ...]``; the status is 1 if a property is not
proven, or a fault not refuted.
"""

import json
import sys

from tests.formal.proofs import PROOFS, Fault, Proof, broken_by, prove, refute

from atoll.cli.output import as_command
from atoll.utils.scratch import temporary_folder
from atoll_sim.formal.prove import REMEDY, Verdict, available


def main() -> int:
    """Print what came out, a module at a time."""
    if not available():
        print(REMEDY, file=sys.stderr)
        return 1
    wanted = [word for word in sys.argv[1:] if word != "--json"]
    if unknown := {*wanted} - {proof.name for proof in PROOFS}:
        print(f"there is no proof of {', '.join(sorted(unknown))}", file=sys.stderr)
        return 1
    good = True
    for proof in PROOFS:
        if not wanted or proof.name in wanted:
            good &= show(proof, as_json="--json" in sys.argv)
    return 0 if good else 1


def show(proof: Proof, *, as_json: bool) -> bool:
    """Prove a module, refute its faults and print both; say whether all came out as it should."""
    verdict = prove(proof)
    refuted = [(fault, refute_once(proof, fault)) for fault in proof.faults]
    if as_json:
        print(json.dumps(describe(proof, verdict, refuted)), flush=True)
    else:
        print("\n".join(lines(proof, verdict, refuted)), flush=True)
    return verdict.proven and all(fault.breaks in broken_by(each) for fault, each in refuted)


def refute_once(proof: Proof, fault: Fault) -> Verdict:
    """Plant a fault in a folder that is removed again."""
    with temporary_folder() as folder:
        return refute(proof, fault, folder)


def lines(proof: Proof, verdict: Verdict, refuted: list[tuple[Fault, Verdict]]) -> list[str]:
    """Return what is printed of a module: rows of two tables, and what is assumed."""
    bound = "unbounded" if proof.depth is None else f"{proof.depth} cycles"
    own = len(proof.properties)
    rtl = len(verdict.properties) - own
    caught = sum(fault.breaks in broken_by(each) for fault, each in refuted)
    if not verdict.proven:
        bound = f"REFUTED in cycle {verdict.cycle}" if verdict.decided else "UNDECIDED"
        bound += f": {', '.join(verdict.refuted)}"
    rows = [
        f"| {proof.name} | {own} + {rtl} | {len(proof.assumptions)} | {bound} |"
        f" {verdict.seconds:.1f} | {caught} of {len(refuted)} |"
    ]
    for name, said in proof.properties.items():
        rows.append(f"  {name}: {said}")
    for name, said in proof.assumptions.items():
        rows.append(f"  assumes {name}: {said}")
    for fault, each in refuted:
        broken = ", ".join(each.refuted) or "NOTHING"
        rows.append(
            f"  planted: {fault.name} | {fault.breaks} | breaks {broken} |"
            f" cycle {each.cycle} | {each.seconds:.1f} s"
        )
    return rows


def describe(
    proof: Proof, verdict: Verdict, refuted: list[tuple[Fault, Verdict]]
) -> dict[str, object]:
    """Return what JSON says of a module."""
    return {
        "module": proof.name,
        "properties": proof.properties,
        "assertions_of_rtl": [name for name in verdict.properties if name.startswith("u_dut.")],
        "assumptions": proof.assumptions,
        "depth": proof.depth,
        "proven": verdict.proven,
        "refuted": verdict.refuted,
        "seconds": round(verdict.seconds, 2),
        "faults": [
            {
                "name": fault.name,
                "expected": fault.breaks,
                "breaks": each.refuted,
                "cycle": each.cycle,
                "seconds": round(each.seconds, 2),
            }
            for fault, each in refuted
        ],
    }


if __name__ == "__main__":
    sys.exit(as_command(main))
