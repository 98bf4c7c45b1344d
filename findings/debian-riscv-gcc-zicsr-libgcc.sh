#!/usr/bin/env bash
# Debian's bare-metal RISC-V GCC links a 64-bit libgcc into a 32-bit program once -march names Zicsr.
#
# Package: gcc-riscv64-unknown-elf 12.2.0-14+deb12u1+11+b2 (Debian 12), binutils-riscv64-unknown-elf 2.40-2+4+b1.
# Expected: rv32imc_zicsr is rv32imc with the CSR instructions, which GCC 12 wants named before the
#   assembler takes them; the same ilp32 multilib is good for both.
# Seen: -march=rv32imc picks rv32im/ilp32; -march=rv32imc_zicsr picks the default multilib, which is
#   rv64imafdc/lp64d, without a word. A program that needs nothing of libgcc links; one that divides
#   numbers of 64 bits fails with "ABI is incompatible". -print-libgcc-file-name shows it beforehand.
# So: compile with _zicsr, and link with the name of the multilib.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq gcc-riscv64-unknown-elf=12.2.0-14+deb12u1+11+b2 binutils-riscv64-unknown-elf=2.40-2+4+b1
for package in ./*.deb; do dpkg -x "$package" root; done
gcc=root/usr/bin/riscv64-unknown-elf-gcc
"$gcc" --version | head -1

cat >divides.c <<'C'
long long divided(long long a, long long b) { return a / b; }
void _start(void) { volatile long long x = 6; x = divided(x, 3); for (;;); }
C
echo 'void _start(void) { for (;;); }' >plain.c

for march in rv32imc rv32imc_zicsr; do
  echo "$march: multilib $("$gcc" -march=$march -mabi=ilp32 -print-multi-directory)"
done
[ "$("$gcc" -march=rv32imc -mabi=ilp32 -print-multi-directory)" = rv32im/ilp32 ]
[ "$("$gcc" -march=rv32imc_zicsr -mabi=ilp32 -print-multi-directory)" = . ]
"$gcc" -march=rv32imc -mabi=ilp32 -nostdlib divides.c -lgcc -o one.elf
"$gcc" -march=rv32imc_zicsr -mabi=ilp32 -nostdlib plain.c -lgcc -o two.elf
if "$gcc" -march=rv32imc_zicsr -mabi=ilp32 -nostdlib divides.c -lgcc -o three.elf 2>said; then
  echo "CHANGED: a 64-bit division links with _zicsr"
  exit 1
fi
grep --only-matching 'ABI is incompatible.*' said | head -1
"$gcc" -march=rv32imc_zicsr -mabi=ilp32 -c divides.c -o divides.o
"$gcc" -march=rv32imc -mabi=ilp32 -nostdlib divides.o -lgcc -o four.elf
echo "compiled with rv32imc_zicsr and linked with rv32imc: links"
