#!/usr/bin/env bash
# Clang multiplies floats in hardware on an Armv8.1-M core whose vector unit has integers alone.
#
# Packages: ziglang 0.17.0 with its clang (Debian's clang 14.0.6 does the same), pyelftools 0.33.
# Expected: -march=armv8.1-m.main+mve names integer MVE and no floating-point unit, so a product of
#   two floats is a call of __aeabi_fmul. Arm's GCC 12.2 does that, and needs -mfloat-abi=softfp, as
#   with -mfloat-abi=soft there are no vector registers either. The same two options suit clang.
# Seen: with softfp clang emits VMUL.F32 and marks the object as one for FPv5: the core traps on it.
#   The object's MVE attribute still says "integer only". Nothing is said at compile time.
# So: write -march=armv8.1-m.main+mve+nofp, which both compilers take and which keeps integer MVE.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.0 pyelftools==0.33
cd "$folder"
echo 'float product(float a, float b) { return a * b; }' >product.c
clang() { venv/bin/python -m ziglang clang --target=arm-none-eabi -mthumb -O2 -c product.c "$@"; }
clang --version | head -1

clang -march=armv8.1-m.main+mve -mfloat-abi=softfp -o softfp.o
clang -march=armv8.1-m.main+mve+nofp -mfloat-abi=softfp -o nofp.o
clang -march=armv8.1-m.main+mve -mfloat-abi=soft -o soft.o
venv/bin/python - <<'PY'
from elftools.elf.elffile import ELFFile


def read(name):
    with open(name, "rb") as file:
        elf = ELFFile(file)
        said = elf.get_section_by_name(".ARM.attributes").subsections[0].subsubsections[0]
        tags = {each.tag: each.value for each in said.attributes}
        calls = any(each.name == "__aeabi_fmul" for each in elf.get_section_by_name(".symtab").iter_symbols())
    return tags.get("TAG_FP_ARCH", 0), tags.get("TAG_MVE_ARCH", 0), calls


rows = {name: read(f"{name}.o") for name in ("softfp", "nofp", "soft")}
for name, (unit, vectors, calls) in rows.items():
    print(f"{name}: FP_arch {unit}, MVE_arch {vectors}, calls __aeabi_fmul: {calls}")
changed = rows != {"softfp": (8, 1, False), "nofp": (0, 1, True), "soft": (0, 0, True)}
raise SystemExit("CHANGED" if changed else 0)
PY
