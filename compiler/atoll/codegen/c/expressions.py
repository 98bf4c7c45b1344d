# SPDX-License-Identifier: Apache-2.0
"""Expressions of the loop program as C99 that neither overflows nor converts in silence."""

from atoll.codegen.c.words import TYPES, bare, identifier, literal, scalar_function
from atoll.ir.ranges import Range, never_wraps, range_of
from atoll.ir.scalars import (
    Binary,
    Call,
    Cast,
    Const,
    Conversion,
    Dot,
    Execute,
    Expr,
    Load,
    Operation,
    Select,
    Type,
    Var,
    Word,
)
from atoll.isa.function_unit import Instruction

WRAPPING = (Operation.ADD, Operation.SUB, Operation.MUL, Operation.SHL)
ORDERS = {Operation.MIN: "<", Operation.MAX: ">"}
SHIFTS = (Operation.SHL, Operation.SHR)
DOT = """static inline int32_t atoll_dot(
    int32_t start, const int8_t *left, const int8_t *right, int32_t length) {
  uint32_t total = (uint32_t)start;
  for (int32_t i = 0; i < length; ++i) {
    total += (uint32_t)(left[i] * right[i]);
  }
  return (int32_t)total;
}
"""
WORD_BYTES = 4
OF_WORDS = """#if defined(__GNUC__)
#define ATOLL_OF_WORDS __attribute__((aligned(4)))
#else
#define ATOLL_OF_WORDS
#endif
"""
WORD = """static inline int32_t atoll_word(const int8_t *first) {
#if defined(__riscv) && defined(__GNUC__)
  first = (const int8_t *)__builtin_assume_aligned(first, 4);
#endif
  return (int32_t)((uint32_t)(uint8_t)first[0] | (uint32_t)(uint8_t)first[1] << 8 |
                   (uint32_t)(uint8_t)first[2] << 16 | (uint32_t)(uint8_t)first[3] << 24);
}
"""
DOT_OF = """
static inline int32_t {name}_of(
    int32_t start, const int8_t *left, const int8_t *right, int32_t length) {{
  uint32_t total = (uint32_t)start;
  for (int32_t i = 0; i < length; i += 4) {{
    total += (uint32_t){name}(atoll_word(left + i), atoll_word(right + i));
  }}
  return (int32_t)total;
}}
"""


class Expressions:
    """Prints the expressions of a file.

    Attributes:
        ranges: what variables in scope can be; the rest may be anything.
        helpers: operation and type of the functions that the text calls beside the program's.
        of_words: whether buffers of the program may be read by words.
        dots: whether it calls `DOT` too.
        words: likewise `WORD`.
        instructions: of a function unit that it executes.
        products: that one of them which makes sums of products.
    """

    def __init__(self, four: Instruction | None = None, *, of_words: bool = False) -> None:
        """Begin a file.

        Args:
            four: makes the core's aligned sums of products, if it has one.
            of_words: buffers may be read by words.
        """
        self.of_words = of_words
        self._four = four
        self.ranges: dict[str, Range] = {}
        self.helpers: set[tuple[Operation, Type]] = set()
        self.dots = self.words = False
        self.instructions: set[Instruction] = set()
        self.products: Instruction | None = None

    def text(self, expr: Expr) -> str:
        """Return C of the type of `expr` that can be an operand as it is."""
        match expr:
            case Const(value, type):
                return literal(value, type)
            case Var(name):
                return identifier(name)
            case Load(buffer, index):
                return f"{identifier(buffer)}[{bare(self.text(index))}]"
            case Binary():
                return self._binary(expr)
            case Select(condition, then, otherwise):
                choice = " ? ".join((self.text(condition), self.text(then)))
                choice = f"({choice} : {self.text(otherwise)})"
                return f"({TYPES[expr.type]}){choice}" if expr.type.bits < Type.I32.bits else choice
            case Cast(conversion, value, type):
                text = self.text(value)
                if conversion is Conversion.ZEXT and value.type is not Type.I1:
                    text = f"(u{TYPES[value.type]}){text}"
                return f"(_Bool)({text} & 1)" if type is Type.I1 else f"({TYPES[type]}){text}"
            case Call(function, arguments):
                passed = ", ".join(bare(self.text(argument)) for argument in arguments)
                return f"{scalar_function(function)}({passed})"
            case Word(first):
                self.words = True
                return f"atoll_word(&{self.text(first)})"
            case Execute(instruction, a, b):
                self.instructions.add(instruction)
                one, other = (bare(self.text(operand)) for operand in (a, b))
                return f"{instruction_name(instruction)}({one}, {other})"
            case Dot(start, left, right, length):
                words = self._four if expr.align % WORD_BYTES == 0 else None
                if words:
                    self.products, self.words = words, True
                else:
                    self.dots = True
                begins = ", ".join(f"&{self.text(each)}" for each in (left, right))
                name = f"{instruction_name(words)}_of" if words else "atoll_dot"
                return f"{name}({bare(self.text(start))}, {begins}, {length})"

    def _binary(self, expr: Binary) -> str:
        operation, type = expr.operation, expr.left.type
        left, right = self.text(expr.left), self.text(expr.right)
        if operation in SHIFTS:
            right = self._amount(expr.right, type)
        plain = f"({left} {operation} {right})"
        if operation.compares:
            return plain
        if operation in ORDERS or (operation in WRAPPING and not self._fits(expr)):
            self.helpers.add((operation, type))
            return f"{helper_name(operation, type)}({bare(left)}, {bare(right)})"
        return f"({TYPES[type]}){plain}" if type.bits < Type.I32.bits else plain

    def _fits(self, expr: Binary) -> bool:
        """Tell whether C's own operator is defined and gives the result."""
        if expr.operation is Operation.SHL and range_of(expr.left, self.ranges).low < 0:
            return False
        return never_wraps(expr, self.ranges)

    def _amount(self, expr: Expr, type: Type) -> str:
        """Return how far to shift a value of `type`, as an `int`, modulo its width."""
        if isinstance(expr, Const):
            return str(expr.value % type.bits)
        text = self.text(expr)
        if not range_of(expr, self.ranges).within(Range(0, type.bits - 1)):
            text = f"({text} & {type.bits - 1})"
        return f"(int){text}" if type is Type.I64 else text


def helper_name(operation: Operation, type: Type) -> str:
    """Name the function for what no operator of C does."""
    return f"atoll_{operation.name.lower()}{type.bits}"


def helper(operation: Operation, type: Type) -> str:
    """Define the function that `helper_name` names: the order of two numbers, or wrapping."""
    name, of = helper_name(operation, type), TYPES[type]
    if operation in ORDERS:
        result = f"a {ORDERS[operation]} b ? a : b"
    else:
        unsigned = f"uint{max(type.bits, Type.I32.bits)}_t"
        second = "b" if operation in SHIFTS else f"({unsigned})b"
        result = f"({of})(({unsigned})a {operation} {second})"
    other = "int" if operation in SHIFTS else of
    return f"static inline {of} {name}({of} a, {other} b) {{\n  return {result};\n}}\n"


def instruction_name(instruction: Instruction) -> str:
    """Name the function that executes an instruction."""
    return f"atoll_execute_{instruction.name}"


def instruction_text(instruction: Instruction) -> str:
    """Define that function; a compiler for another machine than RISC-V finds it elsewhere."""
    name, volatile = instruction_name(instruction), " volatile" * instruction.state
    opcode, funct3, funct7 = instruction.opcode, instruction.funct3, instruction.funct7
    encoding = f".insn r {opcode:#x}, {funct3}, {funct7}, %0, %1, %2"
    return f"""#if defined(__riscv)
static inline int32_t {name}(int32_t a, int32_t b) {{
  int32_t result;
  __asm__{volatile}("{encoding}" : "=r"(result) : "r"(a), "r"(b));
  return result;
}}
#else
extern int32_t {name}(int32_t a, int32_t b);
#endif
"""
