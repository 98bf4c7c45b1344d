/* SPDX-License-Identifier: Apache-2.0 */
// The exact search as machine code: `search_python.py` says what it does and why, function by
// function. No function of a C library is called.

#include <stdint.h>

typedef int64_t number;

enum { RUNNING, SOLVED, EXHAUSTED };

static const number FAR = (number)1 << 60;

// The fields, in this order, are those of `_Search` in `search_native.py`. Lists of lists lie flat:
// those of buffer b from `edge_from[b]` to `edge_from[b + 1]`.
struct search {
  // The tables and the question.
  number buffers, cliques, origin, ceiling, by_clique;
  const number *sizes, *alignments, *highest, *rank;
  const number *edge_from, *edge, *above, *below;
  const number *clique_from, *clique, *weight;
  const number *member_from, *member;
  // How far it came.
  number level, failed, status, nodes, deepest;
  // Working memory. Rows of `low` and `order` have an element for each buffer, one row per level.
  number *low, *order, *chosen, *unplaced, *tops, *raised, *kept, *moved;
};

static number larger(number one, number other) { return one > other ? one : other; }

static number aligned(const struct search *s, number buffer, number offset) {
  number mask = s->alignments[buffer] - 1;
  return ((offset + s->origin + mask) & ~mask) - s->origin;
}

static number *low_of(const struct search *s, number level) { return s->low + level * s->buffers; }

static number *order_of(const struct search *s, number level) {
  return s->order + level * s->buffers;
}

// Sort buffers by insertion: they mostly are nearly in order.
static void sort(number *order, number count, const number *low) {
  for (number end = 1; end < count; end++) {
    number buffer = order[end], hole = end;
    for (; hole > 0 && low[order[hole - 1]] > low[buffer]; hole--) order[hole] = order[hole - 1];
    order[hole] = buffer;
  }
}

static number offset_if_not_here(const struct search *s, number buffer) {
  const number *low = low_of(s, s->level);
  number least = FAR;
  for (number e = s->edge_from[buffer]; e < s->edge_from[buffer + 1]; e++) {
    number other = s->edge[e], end = low[other] + s->below[e];
    if (s->unplaced[other] && low[other] < low[buffer] + s->above[e] && end < least) least = end;
  }
  return aligned(s, buffer, least);
}

static void retreat(struct search *s) {
  if (s->level == 0) {
    s->status = EXHAUSTED;
    return;
  }
  s->level--;
  number buffer = s->chosen[s->level];
  s->unplaced[buffer] = 1;
  number offset = offset_if_not_here(s, buffer);
  if (offset + s->sizes[buffer] > s->highest[buffer]) return;
  number *low = low_of(s, s->level), *order = order_of(s, s->level);
  number place = 0, last = s->buffers - s->level - 1;
  low[buffer] = offset;
  while (order[place] != buffer) place++;
  for (; place < last && low[order[place + 1]] <= offset; place++) order[place] = order[place + 1];
  order[place] = buffer;
  s->failed = 0;
}

static int stacked(struct search *s) {
  const number *low = low_of(s, s->level), *order = order_of(s, s->level);
  for (number clique = 0; clique < s->cliques; clique++) s->tops[clique] = 0;
  for (number place = 0; place < s->buffers - s->level; place++) {
    number buffer = order[place], offset = low[buffer];
    if (offset + s->sizes[buffer] > s->highest[buffer]) return 0;
    for (number e = s->clique_from[buffer]; e < s->clique_from[buffer + 1]; e++) {
      number top = larger(s->tops[s->clique[e]], offset) + s->weight[e];
      if (top > s->ceiling) return 0;
      s->tops[s->clique[e]] = top;
    }
  }
  return 1;
}

static int before(const struct search *s, number buffer, number other) {
  const number *low = low_of(s, s->level);
  if (low[buffer] != low[other]) return low[buffer] < low[other];
  return s->rank[buffer] < s->rank[other];
}

static number lowest(const struct search *s) {
  const number *low = low_of(s, s->level), *order = order_of(s, s->level);
  number chosen = order[0];
  for (number place = 1; place < s->buffers - s->level; place++) {
    if (low[order[place]] != low[order[0]]) break;
    if (before(s, order[place], chosen)) chosen = order[place];
  }
  return chosen;
}

static number lowest_of_fullest(const struct search *s) {
  number fullest = 0, chosen = -1, lower = order_of(s, s->level)[0];
  for (number clique = 1; clique < s->cliques; clique++)
    if (s->tops[clique] > s->tops[fullest]) fullest = clique;
  for (number m = s->member_from[fullest]; m < s->member_from[fullest + 1]; m++) {
    number member = s->member[m];
    if (s->unplaced[member] && (chosen < 0 || before(s, member, lower))) chosen = lower = member;
  }
  do {
    chosen = lower;
    for (number e = s->edge_from[chosen]; e < s->edge_from[chosen + 1]; e++)
      if (s->unplaced[s->edge[e]] && before(s, s->edge[e], lower)) lower = s->edge[e];
  } while (lower != chosen);
  return chosen;
}

static void put(struct search *s, number buffer) {
  const number *old_low = low_of(s, s->level), *old_order = order_of(s, s->level);
  number *low = low_of(s, s->level + 1), *order = order_of(s, s->level + 1);
  for (number other = 0; other < s->buffers; other++) low[other] = old_low[other];
  for (number e = s->edge_from[buffer]; e < s->edge_from[buffer + 1]; e++) {
    number other = s->edge[e], least = low[buffer] + s->above[e];
    if (s->unplaced[other] && low[other] < least) {
      low[other] = aligned(s, other, least);
      s->raised[other] = 1;
    }
  }
  number left = s->buffers - s->level, kept = 0, moved = 0;
  for (number place = 0; place < left; place++) {
    number other = old_order[place];
    if (s->raised[other]) {
      s->raised[other] = 0;
      s->moved[moved++] = other;
    } else if (other != buffer) {
      s->kept[kept++] = other;
    }
  }
  sort(s->moved, moved, low);
  for (number k = 0, m = 0, place = 0; place < left - 1; place++) {
    int first = m == moved || (k < kept && low[s->kept[k]] <= low[s->moved[m]]);
    order[place] = first ? s->kept[k++] : s->moved[m++];
  }
}

static void advance(struct search *s) {
  s->nodes++;
  s->deepest = larger(s->deepest, s->level);
  if (!stacked(s)) {
    s->failed = 1;
  } else if (s->level == s->buffers) {
    s->status = SOLVED;
  } else {
    number buffer = s->by_clique ? lowest_of_fullest(s) : lowest(s);
    s->chosen[s->level] = buffer;
    s->unplaced[buffer] = 0;
    put(s, buffer);
    s->level++;
  }
}

void atoll_search_begin(struct search *s) {
  s->level = s->failed = s->nodes = s->deepest = 0;
  s->status = RUNNING;
  for (number buffer = 0; buffer < s->buffers; buffer++) {
    s->low[buffer] = aligned(s, buffer, 0);
    s->order[buffer] = buffer;
    s->unplaced[buffer] = 1;
    s->raised[buffer] = 0;
  }
  sort(s->order, s->buffers, s->low);
}

void atoll_search_run(struct search *s, number limit) {
  while (s->status == RUNNING && s->nodes < limit) {
    if (s->failed) {
      retreat(s);
    } else {
      advance(s);
    }
  }
}
