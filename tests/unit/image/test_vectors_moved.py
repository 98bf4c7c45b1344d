# SPDX-License-Identifier: Apache-2.0
"""However code reaches VTOR: the vectors that it sets count, or interrupts are not known."""

from pathlib import Path

import pytest
from tests.foreign_images import Compiler

from atoll_image.elf import read_image
from atoll_image.image_stacks import Questions, StackUse, stack_of

SCRIPT = """
ENTRY(_start)
MEMORY { FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 256K
         RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 64K }
SECTIONS {
  .isr_vector : { KEEP(*(.isr_vector)) } > FLASH
  .text : { *(.text*) KEEP(*(.rodata.apart)) *(.rodata*) } > FLASH
  .data : { *(.data*) } > RAM AT > FLASH
  .bss (NOLOAD) : { *(.bss*) } > RAM
  _estack = 0x20008000;
  /DISCARD/ : { *(.ARM.ex*) *(.comment) }
}
"""
SOURCE = r"""
typedef unsigned u32;
typedef struct { volatile u32 CPUID, ICSR, VTOR, AIRCR, SCR, CCR; volatile unsigned char SHP[12]; }
  block;
#define SCB ((block *)0xE000ED00)
#define WORD(at) (*(volatile u32 *)(at))
#define ALONE __attribute__((noinline))
volatile int t[8] = {1, 2, 3};
ALONE int deep(int n) {
  volatile char a[3000]; for (int i = 0; i < 3000; i++) a[i] = n; return a[n & 2047]; }
void Later(void) { deep(t[1]); }
void Idle(void) { t[2]++; }
void Reset_Handler(void);
extern char _estack[];
#define EACH(f) {_estack, (void *)Reset_Handler, (void *)Idle, (void *)Idle, (void *)f, (void *)f, \
  (void *)f, 0, 0, 0, 0, (void *)f, (void *)f, 0, (void *)f, (void *)f}
__attribute__((section(".isr_vector"), used)) const void *const vectors[16] = EACH(Idle);
#ifdef APART
__attribute__((aligned(128), section(".rodata.apart"), used)) const void *const apart[16] =
  EACH(Later);
#endif
__attribute__((aligned(128))) void *moved[16];
void *memcpy(void *to, const void *from, __SIZE_TYPE__ count) {
  volatile char *at = to; const volatile char *c = from; while (count--) *at++ = *c++; return to; }
#if defined(ARGUMENT)
ALONE void set(block *scb, u32 x) { scb->VTOR = x; }
void go(void) { set(SCB, (u32)moved); }
#elif defined(SIXTH_ARGUMENT)
ALONE void set(int a, int b, int c, int d, block *scb, u32 x) {
  t[a & 7] = b + c + d; scb->VTOR = x; }
void go(void) { set(t[1], t[2], 3, 4, SCB, (u32)moved); }
#elif defined(MEMCPY)
void go(void) { u32 x = (u32)moved; memcpy((void *)&SCB->VTOR, &x, 4); }
#elif defined(IN_DATA)
block *volatile scb = SCB;
void go(void) { scb->VTOR = (u32)moved; }
#elif defined(IN_A_STRUCT)
struct driver { int a; block *scb; };
ALONE void set(struct driver *d, u32 x) { d->scb->VTOR = x; }
void go(void) { struct driver d = {t[1], SCB}; set(&d, (u32)moved); }
#elif defined(STORED)
struct driver { int a; block *scb; } driver;
ALONE void set(struct driver *d, u32 x) { d->scb->VTOR = x; }
void go(void) { driver.scb = SCB; set(&driver, (u32)moved); }
#elif defined(RETURNED)
ALONE block *get(void) { t[3] = 4; return SCB; }
void go(void) { get()->VTOR = (u32)moved; }
#elif defined(ONE_OF_TWO)
block other;
void go(void) { block *p = t[1] ? SCB : &other; p->VTOR = (u32)moved; }
#elif defined(INDEX)
void go(void) { ((volatile u32 *)SCB)[t[1]] = (u32)moved; }
#elif defined(UP)
void go(void) { for (volatile u32 *p = (u32 *)SCB; p < (u32 *)SCB + t[1]; p++) *p = (u32)moved; }
#elif defined(DOWN)
void go(void) { for (volatile u32 *p = (u32 *)SCB + 5; p >= (u32 *)SCB; p--) *p = t[1]; }
#elif defined(A_BYTE)
void go(void) { *(volatile unsigned char *)0xE000ED09 = (u32)moved >> 8; }
#elif defined(KNOWN)
ALONE void set(block *scb, u32 x) { scb->VTOR = x; }
void go(void) { set(SCB, (u32)apart); }
#elif defined(USUAL)  // what start-up code and drivers of vendors do with the same registers
ALONE void priority(int irq, u32 p) {
  if (irq < 0) SCB->SHP[((u32)irq & 15) - 4] = p << 4;
  else ((volatile unsigned char *)0xE000E400)[irq] = p << 4; }
ALONE void enable(int irq) { ((volatile u32 *)0xE000E100)[irq >> 5] = 1u << (irq & 31); }
ALONE void grouping(u32 g) {
  u32 r = SCB->AIRCR & ~0xffff0700; SCB->AIRCR = r | 0x5fa0000 | g << 8; }
ALONE void sleep(void) { SCB->SCR |= 4; __asm__("wfi"); SCB->SCR &= ~4; }
void go(void) {
  WORD(0xE000ED88) |= 0xf << 20; grouping(3); priority(t[1], 2); priority(-t[2], 3); enable(t[1]);
  WORD(0xE000E014) = 1000; WORD(0xE000E010) = 7; SCB->ICSR = 1 << 28; sleep(); deep(3);
  SCB->CCR |= 1 << 9; }
#else
void go(void) {}
#endif
void Reset_Handler(void) { go(); for (;;) t[4]++; }
__attribute__((alias("Reset_Handler"))) void _start(void);
"""
SETTERS: tuple[str, ...] = (
    "ARGUMENT",
    "SIXTH_ARGUMENT",
    "MEMCPY",
    "IN_DATA",
    "IN_A_STRUCT",
    "STORED",
    "RETURNED",
)
SETTERS += ("ONE_OF_TWO", "INDEX", "UP", "DOWN", "A_BYTE")
FAST = Compiler("zig", "thumb", "-Os")
OTHERS = [Compiler(tool, "thumb", at) for tool in ("gcc", "clang", "zig") for at in ("-O0", "-O2")]


def each_of(*kinds: str) -> pytest.MarkDecorator:
    """Try each kind by one compiler in `make test`."""
    cases = [pytest.param(FAST, kind, id=f"{FAST} {kind}") for kind in kinds]
    cases += [
        pytest.param(each, kind, id=f"{each} {kind}", marks=pytest.mark.slow)
        for each in OTHERS
        for kind in kinds
    ]
    return pytest.mark.parametrize(("compiler", "kind"), cases)


def use_of(folder: Path, compiler: Compiler, kind: str, *flags: str) -> StackUse:
    if not compiler.there():
        pytest.skip(f"{compiler.tool} for {compiler.name} is not installed")
    elf = compiler.link(kind, folder, *flags, source=SOURCE, script=SCRIPT)
    return stack_of(elf, read_image(elf), Questions())


@each_of(*SETTERS)
def test_a_table_in_ram_is_noticed_however_it_is_set(
    compiler: Compiler, kind: str, tmp_path: Path
) -> None:
    use = use_of(tmp_path, compiler, kind)
    assert use.roots.unknown
    assert use.interrupt_bytes is None
    assert [fault.code for fault in use.unbounded_faults()] == ["E183"]


@each_of("USUAL", "NOTHING")
def test_other_registers_of_the_block_move_no_vectors(
    compiler: Compiler, kind: str, tmp_path: Path
) -> None:
    use = use_of(tmp_path, compiler, kind)
    assert not use.roots.unknown
    assert use.interrupt_bytes is not None
    assert use.interrupt_bytes < 3000
    assert use.assumes()[0].startswith("VTOR leads to the vectors at 0x08000000")


@each_of("KNOWN", "NOTHING")
def test_the_handlers_of_each_table_count(compiler: Compiler, kind: str, tmp_path: Path) -> None:
    """Whether code gives it to VTOR, or nothing says what begins with it."""
    use = use_of(tmp_path, compiler, kind, "-DAPART")
    assert not use.roots.unknown
    assert use.interrupt_bytes is not None
    assert use.interrupt_bytes >= 3000 + 36
