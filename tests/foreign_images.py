# SPDX-License-Identifier: Apache-2.0
"""Small firmware that Atoll did not build: one program a kind, for four instruction sets."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from atoll.utils.cache import cache_folder

SCRIPT = """
ENTRY(_start)
SECTIONS {
  .text 0x10000 : { KEEP(*(.vectors)) *(.text.start) *(.text*) *(.rodata*) *(.srodata*) }
  .data 0x40000 : { *(.data*) *(.sdata*) }
  .bss : { *(.bss*) *(.sbss*) *(COMMON) }
  __stack = 0x60000;
  /DISCARD/ : { *(.ARM.ex*) *(.comment) *(.eh_frame*) *(.note*) }
}
"""
SOURCE = r"""
#define ALONE __attribute__((noinline))
typedef __SIZE_TYPE__ size;
void *memset(void *to, int byte, size count) {
  volatile char *at = to; while (count--) *at++ = (char)byte; return to; }
void *memcpy(void *to, const void *from, size count) {
  volatile char *at = to; const volatile char *c = from; while (count--) *at++ = *c++; return to; }
volatile int t[8] = {5, 6, 7, 8, 9, 10, 11, 12};
ALONE int small(int n) { volatile char a[40]; a[n & 31] = (char)n; return a[n & 31] + t[1]; }
ALONE int large(int n) { volatile char a[2900];
  for (int i = 0; i < 2900; i++) a[i] = (char)n; return a[n & 2047] + small(n); }
ALONE int middle(int n) { volatile int a[50];
  for (int i = 0; i < 50; i++) a[i] = n + i; return large(n) + a[n & 31]; }
#if defined(CHAIN)
ALONE int work(int n) { return middle(n) + small(n); }
#elif defined(RECURSION)
ALONE int odd(int n);
ALONE int even(int n) { t[2] = n; return n ? odd(n - 1) + t[1] : 1; }
ALONE int odd(int n) { t[3] = n; return n ? even(n - 1) + t[2] : 0; }
ALONE int work(int n) { return even(n * 4); }
#elif defined(VLA)
ALONE int vary(int n) { char a[n]; for (int i = 0; i < n; i++) ((volatile char *)a)[i] = (char)n;
  return ((volatile char *)a)[n / 2]; }
ALONE int work(int n) { return vary(n * 60); }
#elif defined(ALLOCA)
ALONE int vary(int n) { volatile char *a = __builtin_alloca(n);
  for (int i = 0; i < n; i++) a[i] = 1;
  return a[n / 2] + small(n); }
ALONE int work(int n) { return vary(n * 60); }
#elif defined(POINTERS)
typedef int callee(int);
callee *const volatile handlers[] = {small, large, middle};
ALONE int handle(int which, int n) { return handlers[which](n) + 1; }
ALONE int work(int n) { return handle(t[0] - 5, n) + handle(t[0] - 4, n) + handle(t[0] - 3, n); }
#elif defined(POINTER_TAIL)
typedef int callee(int);
callee *const volatile handlers[] = {small, large, middle};
ALONE int handle(int which, int n) { return handlers[which](n + 300); }
ALONE int work(int n) { return handle(t[0] - 5, n) + handle(t[0] - 4, n) + handle(t[0] - 3, n); }
#elif defined(TAIL)
ALONE int last(int n) { t[4] = n; return middle(n + 1); }
ALONE int work(int n) { volatile char a[300]; a[n & 255] = 1; t[5] = a[3]; return last(n); }
#elif defined(SWITCH)
ALONE int choose(int n) {
  switch (n) {
    case 0: t[0] = 7; return small(n);
    case 1: t[1] = 9; return 14;
    case 2: t[2] = 4; return large(n) + 2;
    case 3: t[3] = 2; return 92;
    case 4: t[4] = 4; return small(n) + t[2];
    case 5: t[5] = 8; return middle(n);
    case 6: t[6] = 1; return 89;
    case 7: t[7] = 1; return 7;
  }
  return 0;
}
ALONE int work(int n) { int sum = 0;
  for (int i = 0; i < 9; i++) sum += choose(i + n - n); return sum; }
#elif defined(INTERRUPT)
ALONE int work(int n) { return small(n); }
#endif
#if defined(__arm__)
void handler(void) { t[6] = middle(t[5]); }
__attribute__((naked, used, section(".text.start"))) void _start(void) {
  __asm__("ldr r0, =__stack\n mov sp, r0\n movs r0, #5\n bl work\n.globl finished\n"
          ".thumb_func\nfinished: b finished\n .ltorg"); }
extern char __stack[];
__attribute__((used, section(".vectors"))) const void *const vectors[8] = {
  __stack, (void *)_start, (void *)_start, (void *)handler};
#elif defined(__riscv)
__attribute__((interrupt, aligned(4), used)) void handler(void) { t[6] = middle(t[5]); }
__attribute__((naked, used, section(".text.start"))) void _start(void) {
  __asm__("la sp, __stack\n la t0, handler\n csrw mtvec, t0\n li a0, 5\n call work\n"
          ".globl finished\nfinished: j finished"); }
#else
__attribute__((used)) void handled(void) { t[6] = middle(t[5]); }
__asm__(".section .text.vectors, \"ax\"\n.balign 2048\n.globl vectors\nvectors:\n"
        ".rept 16\n.balign 128\n b handler\n.endr\n"
        ".text\n.globl handler\n.type handler, %function\nhandler:\n"
        "stp x0, x30, [sp, #-160]!\n stp x1, x2, [sp, #16]\n stp x3, x4, [sp, #32]\n"
        "bl handled\n ldp x1, x2, [sp, #16]\n ldp x3, x4, [sp, #32]\n"
        "ldp x0, x30, [sp], #160\n eret\n.size handler, . - handler\n");
__attribute__((naked, used, section(".text.start"))) void _start(void) {
  __asm__("adrp x0, __stack\n add x0, x0, :lo12:__stack\n mov sp, x0\n"
          "adrp x1, vectors\n add x1, x1, :lo12:vectors\n msr vbar_el1, x1\n"
          "mov w0, #5\n bl work\n.globl finished\nfinished: b finished"); }
#endif
"""
KINDS = ("CHAIN", "RECURSION", "VLA", "ALLOCA", "POINTERS", "TAIL", "SWITCH", "INTERRUPT")
UNBOUNDED = ("RECURSION", "VLA", "ALLOCA", "POINTERS")
LEVELS = ("-O0", "-O2", "-Os")
_GCC = {
    "thumb": ("arm-none-eabi-gcc", "-mcpu=cortex-m4"),
    "rv32": ("riscv64-unknown-elf-gcc", "-march=rv32imac_zicsr", "-mabi=ilp32"),
    "rv64": ("riscv64-unknown-elf-gcc", "-march=rv64imac_zicsr", "-mabi=lp64", "-mcmodel=medany"),
    "a64": ("aarch64-linux-gnu-gcc", "-mgeneral-regs-only", "-static", "-no-pie", "-fno-pic"),
}
_CLANG = {
    "thumb": ("--target=thumbv7em-none-eabi",),
    "rv32": ("--target=riscv32-unknown-elf", "-march=rv32imac"),
    "rv64": ("--target=riscv64-unknown-elf", "-march=rv64imac", "-mcmodel=medany"),
    "a64": ("--target=aarch64-none-elf", "-mgeneral-regs-only"),
}
_ZIG = {
    "thumb": ("-target", "thumb-freestanding-eabi", "-mcpu=cortex_m4"),
    "rv32": ("-target", "riscv32-freestanding", "-mcpu=generic_rv32+m+a+c"),
    "rv64": ("-target", "riscv64-freestanding", "-mcpu=generic_rv64+m+a+c", "-mcmodel=medany"),
    "a64": ("-target", "aarch64-freestanding", "-mgeneral-regs-only"),
}
_USUAL = (
    "-ffreestanding",
    "-nostdlib",
    "-fno-stack-protector",
    "-fno-builtin",
    "-w",
    "-T",
    "chip.ld",
)
SETS = tuple(
    (tool, name)
    for tool, each in (("gcc", _GCC), ("clang", _CLANG), ("zig", _ZIG))
    for name in each
)


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler for an instruction set, with a level of optimisation."""

    tool: str
    name: str
    level: str

    def there(self) -> bool:
        """Tell whether it is installed."""
        words = {"gcc": _GCC.get(self.name, ("",))[0], "clang": "clang", "zig": sys.executable}
        return shutil.which(words[self.tool]) is not None and (
            self.tool != "clang" or shutil.which("ld.lld") is not None
        )

    def link(
        self, kind: str, folder: Path, *more: str, source: str = SOURCE, script: str = SCRIPT
    ) -> Path:
        """Compile and link the program of a kind."""
        words = {
            "gcc": _GCC.get(self.name, ()),
            "clang": ("clang", *_CLANG[self.name], "-fuse-ld=lld"),
            "zig": (
                sys.executable,
                "-m",
                "ziglang",
                "cc",
                *_ZIG[self.name],
                "-g",
                "-fno-sanitize=all",
            ),
        }[self.tool]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "chip.ld").write_text(script)
        (folder / "main.c").write_text(source)
        elf = folder / f"{kind}.elf"
        done = subprocess.run(
            [*words, self.level, *_USUAL, *more, f"-D{kind}", "main.c", "-o", str(elf)],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            env=environment(),
        )
        assert done.returncode == 0, done.stderr
        return elf


def environment() -> dict[str, str]:
    cache = str(cache_folder() / "zig")
    return {
        "ZIG_GLOBAL_CACHE_DIR": cache,
        "ZIG_LOCAL_CACHE_DIR": cache,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
    }
