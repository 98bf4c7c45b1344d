/* Made by `atoll bsp`; edits are refused, see README.md.
 *
 * The board's side of the serial protocol (docs/board.md). Frames, byte stuffing and the 32-bit FCS
 * are those of RFC 1662, sections 4.2 and C.3, without its address, control and protocol fields.
 * A request that comes again is not done again: the board repeats its answer.
 */
#include "atoll_serial.h"
#include "atoll_status.h"

enum { FLAG = 0x7E, ESCAPE = 0x7D, ESCAPED = 0x20 };
enum { HEAD = 3, CHECK = 4, ARGUMENTS = 8, WORD = 4 };
enum { LONGEST = HEAD + ARGUMENTS + ATOLL_SERIAL_DATA };

#define FCS_FIRST UINT32_C(0xFFFFFFFF)
#define FCS_GOOD UINT32_C(0xDEBB20E3)
#define PAINT UINT32_C(0xA5A5A5A5)

/* What comes in, its FCS at the end. */
static struct {
  uint8_t bytes[LONGEST + CHECK];
  uint32_t count;
  uint8_t escape;
} request;

/* What went out last: sequence number, type, status, data. */
static struct {
  uint8_t bytes[HEAD + WORD + ATOLL_SERIAL_DATA];
  uint32_t count;
} answer;

/* When the operators of the latest run began and ended, in cycles from its begin. */
static struct {
  uint32_t begin[ATOLL_SERIAL_OPERATORS];
  uint32_t end[ATOLL_SERIAL_OPERATORS];
  uint8_t marks[ATOLL_SERIAL_OPERATORS];
  uint32_t start;
} run;

enum { BEGUN = 1, ENDED = 2, OPERATOR_BYTES = 1 + 2 * WORD };

static uint32_t fcs_of(uint32_t fcs, uint8_t byte) {
  fcs ^= byte;
  for (uint32_t bit = 0; bit < 8u; bit++) fcs = (fcs >> 1) ^ (UINT32_C(0xEDB88320) & (0u - (fcs & 1u)));
  return fcs;
}

static void put_stuffed(uint8_t byte) {
  if (byte == FLAG || byte == ESCAPE) {
    atoll_serial_put(ESCAPE);
    byte ^= ESCAPED;
  }
  atoll_serial_put(byte);
}

static void send(const uint8_t *bytes, uint32_t count) {
  uint32_t fcs = FCS_FIRST;
  atoll_serial_put(FLAG);
  for (uint32_t i = 0; i < count; i++) {
    fcs = fcs_of(fcs, bytes[i]);
    put_stuffed(bytes[i]);
  }
  fcs = ~fcs;
  for (uint32_t i = 0; i < CHECK; i++) put_stuffed((uint8_t)(fcs >> 8u * i));
  atoll_serial_put(FLAG);
}

static void add_byte(uint8_t byte) {
  answer.bytes[answer.count++] = byte;
}

static void put_word(uint8_t *to, uint32_t word) {
  for (uint32_t i = 0; i < WORD; i++) to[i] = (uint8_t)(word >> 8u * i);
}

static void add_word(uint32_t word) {
  put_word(&answer.bytes[answer.count], word);
  answer.count += WORD;
}

/* A byte of the request behind its head, 0 if it has none. */
static uint8_t argument(uint32_t index) {
  return HEAD + index < request.count ? request.bytes[HEAD + index] : 0u;
}

static uint32_t word_at(uint32_t index) {
  uint32_t word = 0;
  for (uint32_t i = 0; i < WORD; i++) word |= (uint32_t)argument(index + i) << 8u * i;
  return word;
}

static int32_t tell_name(void) {
  const char *name = atoll_serial_name(argument(0));
  if (name == 0) return ATOLL_ERROR_ARGUMENT;
  for (uint32_t i = 0; i < ATOLL_SERIAL_DATA && name[i] != '\0'; i++) add_byte((uint8_t)name[i]);
  return ATOLL_OK;
}

/* Network, port, offset, and bytes to write. */
static int32_t write_input(void) {
  uint32_t size = 0;
  const uint32_t offset = word_at(2), first = 2u + WORD, count = request.count - HEAD - first;
  volatile uint8_t *input = atoll_serial_input(argument(0), argument(1), &size);
  if (request.count < HEAD + first || input == 0 || offset > size || count > size - offset)
    return ATOLL_ERROR_ARGUMENT;
  for (uint32_t i = 0; i < count; i++) input[offset + i] = argument(first + i);
  return ATOLL_OK;
}

/* Network, port, offset, and how many bytes to read. */
static int32_t read_output(void) {
  uint32_t size = 0;
  const uint32_t offset = word_at(2), count = argument(2u + WORD);
  const volatile uint8_t *output = atoll_serial_output(argument(0), argument(1), &size);
  if (output == 0 || count > ATOLL_SERIAL_DATA || offset > size || count > size - offset)
    return ATOLL_ERROR_ARGUMENT;
  for (uint32_t i = 0; i < count; i++) add_byte(output[offset + i]);
  return ATOLL_OK;
}

static int32_t run_network(void) {
  if (argument(0) >= ATOLL_SERIAL_NETWORKS) return ATOLL_ERROR_ARGUMENT;
  for (uint32_t i = 0; i < ATOLL_SERIAL_OPERATORS; i++) run.marks[i] = 0;
  run.start = atoll_serial_cycles();
  const int32_t status = atoll_serial_run(argument(0));
  add_word(atoll_serial_cycles() - run.start);
  return status;
}

/* As many operators as there is room for, from the number given on. */
static int32_t tell_operators(void) {
  const uint32_t first = word_at(0);
  for (uint32_t i = first; i < ATOLL_SERIAL_OPERATORS && i - first < ATOLL_SERIAL_DATA / OPERATOR_BYTES; i++) {
    add_byte(run.marks[i]);
    add_word(run.begin[i]);
    add_word(run.end[i]);
  }
  return ATOLL_OK;
}

/* Size and use of a stack: up from its limit to the first word that is no longer painted. */
static int32_t tell_stack(void) {
  const uint32_t *top = 0;
  const uint32_t *word = atoll_serial_stack(argument(0), &top);
  if (word == 0) return ATOLL_ERROR_ARGUMENT;
  add_word((uint32_t)((uintptr_t)top - (uintptr_t)word));
  while (word < top && *(const volatile uint32_t *)word == PAINT) word++;
  add_word((uint32_t)((uintptr_t)top - (uintptr_t)word));
  return ATOLL_OK;
}

static int32_t obey(int32_t status) {
  const uint8_t type = request.bytes[2];
  if (type == ATOLL_SERIAL_HELLO) {
    add_byte(ATOLL_SERIAL_VERSION);
    add_byte((uint8_t)ATOLL_SERIAL_NETWORKS);
    return status;
  }
  if (type == ATOLL_SERIAL_NAME) return tell_name();
  if (status != ATOLL_OK) return status;
  switch (type) {
    case ATOLL_SERIAL_RESET:
      atoll_serial_reset();
      return ATOLL_OK;
    case ATOLL_SERIAL_WRITE:
      return write_input();
    case ATOLL_SERIAL_RUN:
      return run_network();
    case ATOLL_SERIAL_READ:
      return read_output();
    case ATOLL_SERIAL_TIMES:
      return tell_operators();
    case ATOLL_SERIAL_STACKS:
      return tell_stack();
    default:
      return ATOLL_ERROR_ARGUMENT;
  }
}

/* Whether the answer is to this request. HELLO begins a session: what came before does not count. */
static int is_repeated(void) {
  return answer.count != 0u && request.bytes[2] != ATOLL_SERIAL_HELLO && answer.bytes[0] == request.bytes[0] &&
         answer.bytes[1] == request.bytes[1] && answer.bytes[2] == (request.bytes[2] | ATOLL_SERIAL_REPLY);
}

static void answer_request(int32_t status) {
  if (!is_repeated()) {
    for (uint32_t i = 0; i < HEAD; i++) answer.bytes[i] = request.bytes[i];
    answer.bytes[2] |= ATOLL_SERIAL_REPLY;
    answer.count = HEAD + WORD;
    put_word(&answer.bytes[HEAD], (uint32_t)obey(status));
  }
  send(answer.bytes, answer.count);
}

/* Take a frame that has ended: a request, or what damage left of one. */
static void take_frame(int32_t status) {
  static const uint8_t repeat[HEAD] = {0, 0, ATOLL_SERIAL_REPEAT};
  uint32_t fcs = FCS_FIRST;
  if (request.count >= HEAD + CHECK && request.count <= sizeof request.bytes && request.escape == 0u)
    for (uint32_t i = 0; i < request.count; i++) fcs = fcs_of(fcs, request.bytes[i]);
  if (fcs != FCS_GOOD) {
    send(repeat, HEAD);
    return;
  }
  request.count -= CHECK;
  answer_request(status);
}

void atoll_serial_take(uint8_t byte, int32_t status) {
  if (byte == FLAG) {
    if (request.count != 0u) take_frame(status);
    request.count = 0;
    request.escape = 0;
  } else if (byte == ESCAPE) {
    request.escape = ESCAPED;
  } else {
    if (request.count < sizeof request.bytes) request.bytes[request.count] = byte ^ request.escape;
    if (request.count <= sizeof request.bytes) request.count++;
    request.escape = 0;
  }
}

void atoll_serial_operator_begins(int32_t number) {
  if ((uint32_t)number >= ATOLL_SERIAL_OPERATORS) return;
  run.begin[number] = atoll_serial_cycles() - run.start;
  run.marks[number] |= BEGUN;
}

void atoll_serial_operator_ends(int32_t number) {
  if ((uint32_t)number >= ATOLL_SERIAL_OPERATORS) return;
  run.end[number] = atoll_serial_cycles() - run.start;
  run.marks[number] |= ENDED;
}

void atoll_serial_print(const char *text) {
  while (*text != '\0') {
    uint8_t bytes[HEAD + 32] = {0, 0, ATOLL_SERIAL_TEXT};
    uint32_t count = HEAD;
    while (*text != '\0' && count < sizeof bytes) bytes[count++] = (uint8_t)*text++;
    send(bytes, count);
  }
}
