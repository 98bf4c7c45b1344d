#!/usr/bin/env bash
# Capstone: a comparison of AArch64 is said to write its first operand, and not to read it.
#
# Package: capstone 5.0.7.
# Expected: CMP, CMN and TST read both operands and write the flags; that is all the architecture lets
#   them do (their destination is XZR). Instructions of the same words with a destination, SUBS and
#   ANDS, show that the library can tell: there the access is right.
# Seen: for `cmp x0, x1` regs_access() has x1 as read, and nzcv and x0 as written; operand 0 has the
#   access CS_AC_WRITE. For `cmp sp, x1` it is sp that is written, so an analysis of stacks that trusts
#   the library loses the stack pointer at every check of a stack's limit.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check capstone==5.0.7
venv/bin/python - <<'PY'
import capstone

decoder = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)
decoder.detail = True


def accesses(word):
    (found,) = decoder.disasm(word.to_bytes(4, "little"), 0)
    read, written = ({found.reg_name(each) for each in side} for side in found.regs_access())
    print(f"{found.mnemonic} {found.op_str}: reads {sorted(read)}, writes {sorted(written)}")
    return read, written


for word, register in (
    (0xEB01001F, "x0"),  # cmp x0, x1
    (0xAB01001F, "x0"),  # cmn x0, x1
    (0xEA01001F, "x0"),  # tst x0, x1
    (0xEB2163FF, "sp"),  # cmp sp, x1
):
    read, written = accesses(word)
    assert register not in read, "the first operand is read now"
    assert register in written, "the first operand is no longer written"
for word in (0xEB010002, 0xEA010002):  # subs x2, x0, x1 and ands x2, x0, x1
    read, written = accesses(word)
    assert read == {"x0", "x1"}
    assert written == {"x2", "nzcv"}
PY
