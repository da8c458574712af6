# SPDX-License-Identifier: MIT
"""The bugs that planted.py plants.

Each is a mistake somebody could make: a line that is missing, a bound that is off by one, a case that was not thought of. `edits` are pairs
of a text that the file has exactly once and what takes its place. `tests` are as ctest names them, in the order in which they are asked.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Plant:
    name: str
    file: str
    edits: list[tuple[str, str]]
    tests: list[str]
    why: str
    quick: bool = False  # one of those that run by default
    build: str = "plain"  # plain, asan or tsan
    tries: int = 1  # runs of the tests: more where threads have to meet


def gone(text: str, *, name: str, file: str, tests: list[str], why: str, quick: bool = False, build: str = "plain", tries: int = 1) -> Plant:
    """A statement, its line included, that is missing."""
    return Plant(name, file, [(text + "\n", "\n")], tests, why, quick, build, tries)


RECLAIM = "core/base/reclaim.c"
ALLOC = "core/base/alloc.c"
EVENT_IDS = "core/store/event_ids.c"
KEYMAP = "core/store/keymap.c"
POSTINGS = "core/store/postings.c"
PUT = "core/store/items_put.c"
SLOTS = "core/store/items_slots.c"
READ = "core/store/items_read.c"
ROW = "core/store/items_row.c"
SIGNAL = "core/store/signal.c"
SIGNAL_READ = "core/store/signal_read.c"
HISTORY = "core/store/signal_history.c"
WORD = "core/store/signal_word.h"
SCAN = "core/query/scan.c"
PAGE = "core/query/page.c"
CURSOR = "core/query/cursor.c"
CHANGE = "core/engine/change.c"

T_RECLAIM = ["unit.test_base_reclaim"]
T_ITEMS = ["unit.test_items", "unit.test_items_model"]
T_STRESS = ["stress.stress_items"]
T_SIGNAL = ["unit.test_signal", "unit.test_signal_random"]
T_WORD = ["unit.test_signal_word"]
T_RETRIEVE = ["unit.test_query_retrieve"]
T_CURSORS = ["unit.test_query_cursors"]
T_ENGINE = ["unit.test_engine_changes"]
T_EVENTS = ["unit.test_engine_events"]
T_HOST = ["abi.test_bad_data"]

BASE = [
    Plant("no_grace_period", RECLAIM, [("    reclaim_synchronize(); /* I3;", "    /* I3;")], T_RECLAIM,
          "what was retired is freed while readers hold it", quick=True),
    gone("    released += release_block(&r.drained);", name="barrier_forgets_the_newest", file=RECLAIM, tests=T_RECLAIM,
         why="the last objects retired before a barrier are never released"),
    gone("        r.credit -= credit;", name="credit_is_kept", file=RECLAIM, tests=T_RECLAIM,
         why="room for retires of threads that ended piles up"),
    gone("    store_relaxed(&r.forked, true);", name="fork_goes_unnoticed", file=RECLAIM, tests=T_RECLAIM,
         why="a forked child waits for readers that are not there"),
    Plant("section_left_open", RECLAIM, [("    section_ends();\n    urcu_bp_read_unlock();", "    section_ends();\n    if (urcu_bp_read_ongoing() != 1)\n        urcu_bp_read_unlock();")],
          T_RECLAIM, "a section that never ends: nothing is released any more"),
    Plant("memory_limit_ignored", ALLOC, [("    return used <= most && bytes <= most - used;", "    return used <= most || bytes != most - used;")],
          ["unit.test_base_alloc"], "a write goes ahead though the limit is reached", quick=True),
    gone("    count_change(0 - (uint64_t)usable(p));", name="freed_bytes_not_counted", file=ALLOC, tests=["unit.test_base_alloc"],
         why="memory in use only ever grows"),
    Plant("century_is_a_leap_year", "core/base/clock.c", [("year % 4 == 0 && year % 100 != 0", "year % 4 == 0")], ["unit.test_base_plain"],
          "1900-02-29 is taken for a day"),
    Plant("surrogates_are_utf8", "core/base/value.c", [("        high = s[0] == 0xed ? 0x9f : high;\n", "")], ["unit.test_base_plain"],
          "halves of UTF-16 pairs pass as text"),
    Plant("overlong_is_utf8", "core/base/value.c", [("        low = s[0] == 0xe0 ? 0xa0 : low;\n", "")], ["unit.test_base_plain"],
          "two spellings of one character pass as text"),
]

KEYS = [
    Plant("dead_keys_miscounted", KEYMAP, [("            shard->dead--;\n", "")], ["unit.test_keymap"],
          "a key that comes back stays in the count of the dead", quick=True),
    Plant("key_length_cut", KEYMAP, [("ck_ht_entry_key_set(&entry, bytes, (uint16_t)length);", "ck_ht_entry_key_set(&entry, bytes, (uint8_t)length);")],
          ["unit.test_keymap"], "keys of 256 bytes and more are looked for by a part of them"),
    Plant("dead_key_is_given_out", KEYMAP, [("    publish(&rec->ref, KEY_NONE);\n", "")], ["unit.test_keymap", *T_ITEMS],
          "a deleted key is found"),
    Plant("table_freed_under_readers", KEYMAP, [("        reclaim_retire(old, release_tables);", "        release_tables(old);")],
          ["unit.test_keymap"], "readers walk a table that was freed", tries=5),
    Plant("rebuild_forgets_retire", KEYMAP, [("    reclaim_retire(g, release_garbage);", "    release_garbage(g);")], ["unit.test_keymap"],
          "dead records are freed while readers compare their keys", build="tsan", tries=3),
    Plant("seen_ids_forgotten_early", EVENT_IDS, [(" || holds(&turn->shard->previous, turn->hash)", "")], ["unit.test_event_ids"],
          "an event is counted twice once its generation is full"),
    Plant("id_of_another_signal", EVENT_IDS, [("    memcpy(text, &signal, sizeof signal);", "    memset(text, 0, sizeof signal);")],
          ["unit.test_event_ids"], "an id that one signal has seen is refused by another"),
    Plant("failed_event_keeps_its_id", CHANGE, [("        event_ids_abort(&turn);", "        event_ids_commit(&turn);")], T_EVENTS,
          "an event that was refused can not be sent again"),
]

ITEMS = [
    Plant("sequence_word_stands_still", PUT, [("    block_open_w(k, row->slot);\n", ""), ("    block_close_w(k, row->slot);\n", "")], T_STRESS,
          "readers of columns see half of a put", quick=True, tries=5),
    Plant("moved_block_is_believed", READ, [("    return start % 2 != 0 || load_relaxed(", "    return start % 2 != 0 && load_relaxed(")],
          [*T_STRESS, *T_RETRIEVE], "a block that a put went through is not read again", tries=5),
    Plant("column_not_stored", PUT, [("            store_keyword(f, row->slot, row_keyword(row, i));", "            continue;")], T_ITEMS,
          "the row has a keyword, the column has not"),
    Plant("null_column_is_zero", PUT, [("null ? INT64_MIN : row_int(row, i)", "row_int(row, i)")], T_ITEMS, "null reads as 0 from a column"),
    Plant("postings_not_widened", PUT, [("if (!has_id(old_ids, old_n, ids[j]) && !postings_add_w(", "if (old == NULL && !has_id(old_ids, old_n, ids[j]) && !postings_add_w(")],
          [*T_ITEMS, *T_RETRIEVE], "a keyword that a put adds to an item does not find it", quick=True),
    Plant("row_freed_at_once", PUT, [("    reclaim_retire(old, row_release);", "    row_release(old);")], T_STRESS,
          "readers hold the record that a put replaced", build="tsan", quick=True, tries=3),
    Plant("dead_row_freed_at_once", PUT, [("    reclaim_retire(row, row_release);", "    row_release(row);")], T_STRESS,
          "readers hold the record of an item that was deleted", build="asan", tries=5),
    Plant("generation_stands_still", PUT, [("    publish(generation, *generation + 1);\n", "")], T_ITEMS, "handles of a dead item stay good"),
    Plant("first_put_moves", PUT, [("old != NULL ? old->first_put : change->now", "change->now")], T_ITEMS, "an item is as young as its last put"),
    Plant("expired_item_is_revived", PUT, [("!change->patch && row_expired(k->expires, old, change->now)", "!change->patch && false")], T_ITEMS,
          "a put over an expired item keeps its slot and signals"),
    Plant("expiry_a_moment_late", READ, [("row_int(row, expires->index) <= now", "row_int(row, expires->index) < now")], T_ITEMS,
          "an item lives in the very moment it expires"),
    Plant("expiry_of_a_put_not_noted", PUT, [("        publish(&k->expiry.next, at);", "        (void)at;")], T_ITEMS,
          "counts and the sweep do not know when the next item expires"),
    Plant("patch_loses_fields", ROW, [("change->patch ? old : NULL", "NULL")], T_ITEMS, "fields that a patch does not name become null"),
    Plant("tail_not_aligned", ROW, [("* size + 3) & ~3ull", "* size)")], T_ITEMS, "ids of keywords behind a text lie across words", build="asan"),
    Plant("slot_used_too_early", SLOTS, [("    if (q->running && take(&q->over)) {", "    if (q->running) {")], ["unit.test_items", *T_STRESS],
          "a reader finds the new item where it took the old one"),
    Plant("cell_not_cleared", SLOTS, [("            signal_clear(k->signals[i].signal, slot);", "            continue;")], [*T_ITEMS, *T_STRESS],
          "a new item begins with the events of the one before", quick=True),
    Plant("slot_taken_from_the_middle", SLOTS, [("        *link_of(k, before) = next;", "        *link_of(k, before) = slot;")], T_ITEMS,
          "the queue of free slots becomes a ring"),
    Plant("loose_end_not_sorted", POSTINGS, [("    sort_slots(c->loose_slots, c->loose);\n", "")], ["unit.test_postings"],
          "slots that came out of order are given out of order", quick=True),
    Plant("kept_slots_lost", POSTINGS, [("        roaring_bitmap_add_many(kept->set, kept->n, kept->few);\n", "")], ["unit.test_postings"],
          "a list that grows into a set loses its first slots"),
    Plant("set_read_beyond_the_tail", POSTINGS, [("        return n + iterator_read(set, slots + n, count_below(slots + n, got, limit));",
                                                  "        return n + iterator_read(set, slots + n, count_below(slots + n, got, limit + 1));")],
          ["unit.test_postings"], "a slot in the set and in the tail comes twice"),
    Plant("row_published_relaxed", PUT, [("    publish(row_cell_of(k, row->slot), row);", "    store_relaxed(row_cell_of(k, row->slot), row);")], T_STRESS,
          "a release is missing: readers see a record before it is filled", build="tsan", quick=True, tries=3),
    Plant("row_taken_relaxed", READ, [("    const struct row *row = take(row_cell_of(k, slot));\n    if (row == NULL || row->key != rec",
                                       "    const struct row *row = load_relaxed(row_cell_of(k, slot));\n    if (row == NULL || row->key != rec")], T_STRESS,
          "an acquire is missing: a record is read before it is seen filled", build="tsan", tries=3),
    Plant("tail_published_relaxed", POSTINGS, [("    publish(&list->n, n + 1);", "    store_relaxed(&list->n, n + 1);")], ["unit.test_postings"],
          "a release is missing: readers see the count before the slot", build="tsan", tries=3),
    Plant("chunks_not_taken_over", "core/store/chunks.c", [("        memcpy(d->chunk, old->chunk, old->length * sizeof d->chunk[0]);", "        (void)0;")],
          ["unit.test_chunks"], "a larger directory forgets the chunks there were"),
    Plant("chunk_made_twice", "core/store/chunks.c", [("d != NULL && d->chunk[k] != NULL;", "false;")], ["unit.test_chunks"],
          "two threads each make the chunk, and what one wrote is lost", tries=3),
    Plant("dropped_kind_is_found", "core/store/catalog.c", [("    publish(&ks->dropped, true);", "    (void)ks;")], ["unit.test_catalog"],
          "a signal that was dropped is still there"),
    Plant("profile_appended", "core/store/catalog.c", [("    if (at == n && fresh != NULL)", "    if (fresh != NULL)")], ["unit.test_catalog"],
          "a profile that is replaced is there twice"),
]

SIGNALS = [
    Plant("lost_event", SIGNAL, [("            if (cas(&c->tally, &was[0], becomes[0]))\n                break;",
                                  "            (void)cas(&c->tally, &was[0], becomes[0]);\n            break;")], ["stress.stress_signal"],
          "what the compare-and-swap says is ignored: of two events at once one is not counted", quick=True, tries=3),
    Plant("window_a_bucket_short", SIGNAL_READ, [("    *first = now > w->buckets ? now - w->buckets : 0;", "    *first = now >= w->buckets ? now - w->buckets + 1 : 0;")],
          T_SIGNAL, "events at a window's far end are not counted", quick=True),
    Plant("wrong_word_of_the_ring", HISTORY, [("    uint32_t at = (uint32_t)(first % size);", "    uint32_t at = (uint32_t)(first % w->buckets);")], T_SIGNAL,
          "a ring is read at an index of another size", quick=True),
    Plant("late_event_in_its_own_bucket", HISTORY, [("most(mine + 1, last >", "most(mine, last >")], T_SIGNAL,
          "a late event counts as before its own bucket", quick=True),
    Plant("late_event_in_quiet_history", HISTORY, [("h->words[i] != FREE && at > unit", "h->words[i] != FREE && at != UINT64_MAX")], T_SIGNAL,
          "a late event counts as before groups that are older than it"),
    Plant("skipped_buckets_keep_old_words", HISTORY, [("uint64_t e = most(last + 1, next >", "uint64_t e = most(next, next >")], T_SIGNAL,
          "buckets without events keep what stood there one round before"),
    Plant("passed_window_merges_groups", HISTORY, [("bucket_of(w, a) != bucket_of(w, b) && !window_passed", "bucket_of(w, a) == bucket_of(w, b) && !window_passed")],
          T_SIGNAL, "groups of different buckets become one"),
    Plant("weight_lost_by_a_turn", SIGNAL, [("add_weight(s, h->was[0], h->was[1], e->weight)};", "h->was[1]};")],
          T_SIGNAL, "the first event of a new bucket adds nothing to the sum"),
    Plant("last_not_raised", SIGNAL, [("    while (stamp > (last | 1) && !cas(", "    while (last == 0 && !cas(")], T_SIGNAL,
          "the time of the newest event stays that of the first", quick=True),
    Plant("late_mark_missing", SIGNAL, [("    __atomic_fetch_or(&h->c->last, 1, __ATOMIC_RELEASE);\n", "")], T_SIGNAL,
          "readers of totals do not look for late events"),
    Plant("newest_bound_not_raised", SIGNAL, [("    raise_newest(s, e->time.at);\n}", "}")], [*T_SIGNAL, *T_RETRIEVE],
          "a query is let into the past of an event"),
    Plant("no_dither", WORD, [("    sum += mix64(old + number) & (((uint64_t)1 << spare) - 1);\n", "")], T_WORD,
          "each addition rounds down, and a million of them add up", quick=True),
    Plant("biased_dither", WORD, [("mix64(old + number) & (((uint64_t)1 << spare) - 1)", "mix64(old + number) & (((uint64_t)1 << spare) / 2 - 1)")], T_WORD,
          "the dither is too small by half"),
    Plant("carry_lost", WORD, [("    sum >>= carry;\n", "")], T_WORD, "a sum that doubles is not brought back into its bits"),
    Plant("no_decay_floor", WORD, [("    return v < DECAY_FLOOR ? 0.0 : v;", "    return v;")], [*T_WORD, *T_SIGNAL],
          "a sum is never 0 again, and nothing is ever forgotten", quick=True),
    Plant("forgotten_too_early", "core/store/signal_held.c", [("    return all_windows_passed(s, tally_unit(s, h->was[0]), unit_of(s, now)) && word_value(",
                                                             "    return word_value(")], T_SIGNAL,
          "a cell is emptied while a window still shows its events"),
    Plant("new_life_keeps_decay", "core/store/signal_held.c", [("    publish(&h->c->decay, 0);\n", "")], T_SIGNAL,
          "a cell that starts anew begins with the old sum"),
    Plant("upkeep_drops_a_group", "core/store/signal_maintain.c", [("    const unsigned wanted = passed ? 1 : quiet_slots(g.n);", "    const unsigned wanted = passed ? 1 : QUIET_FIRST;")],
          T_SIGNAL, "upkeep makes a history too small for what it holds"),
    Plant("history_freed_at_once", SIGNAL, [("        reclaim_retire(h.old, history_free);\n    return code;", "        history_free(h.old);\n    return code;")],
          ["stress.stress_signal"], "readers hold the history that a late event replaced", build="asan", tries=3),
]

RANK = [
    Plant("ties_the_other_way", "core/rank/topk.h", [("    return (a->slot > b->slot) - (a->slot < b->slot);", "    return (a->slot < b->slot) - (a->slot > b->slot);")],
          ["unit.test_topk"], "of equal scores the later slot comes first", quick=True),
    Plant("heap_follows_the_wrong_child", "core/rank/topk.c", [("order(t, &t->heap[child + 1], &t->heap[child]) > 0", "order(t, &t->heap[child + 1], &t->heap[child]) < 0")],
          ["unit.test_topk"], "a row among the best is thrown out"),
    Plant("nulls_first_descending", "core/rank/order.c", [("        return descending && sort_a != SORT_NULL && sort_b != SORT_NULL ? -c : c;", "        return descending ? -c : c;")],
          ["unit.test_topk"], "DESC puts the rows without a value first"),
    Plant("null_and_false_is_null", "core/rank/kernels_body.h", [("to[i] = low ? high : TRUTH_FALSE", "to[i] = high")], ["unit.test_program"],
          "NULL AND FALSE is not false, and NOT of it not true", quick=True),
    Plant("null_or_true_is_null", "core/rank/kernels_body.h", [("(a[i] | b[i]) & 1 ? TRUTH_TRUE : a[i] | b[i]", "a[i] > b[i] ? a[i] : b[i]")],
          ["unit.test_program"], "NULL OR TRUE is not true"),
    Plant("integers_compared_as_reals", "core/rank/program.c", [("    else if (integer->class != REG_INT || s->k->ints_fit(integer->lane->integer, n))", "    else if (integer != NULL)")],
          ["unit.test_program"], "2^53 + 1 equals 2^53", quick=True),
    Plant("in_forgets_null", "core/rank/program.c", [("list->has_null ? TRUTH_NULL : TRUTH_FALSE;", "TRUTH_FALSE;")], ["unit.test_program"],
          "NOT IN a list with a null is true"),
    Plant("division_by_zero", "core/rank/numbers.h", [("    return b == 0.0 ? 0.0 : q;", "    return q;")], ["unit.test_numbers"],
          "a / 0 is not 0"),
    Plant("diversity_window_one_longer", "core/rank/diversity.c", [("        if (window > 0 && row + 1 >= window)\n            leave_row(p, row + 1 - window, r);",
                                                                   "        if (window > 0 && row >= window)\n            leave_row(p, row - window, r);"),
                                                                  ("row + rule.window;", "row + rule.window + 1;")], ["unit.test_diversity"],
          "a rule looks back one row too far", quick=True),
    Plant("value_said_twice_counts_twice", "core/rank/diversity.c", [("            node->value = NONE;\n            continue;", "            (void)0;")], ["unit.test_diversity"],
          "a row that names a value twice fills its rule alone"),
    Plant("best_passed_over_is_not_first", "core/rank/diversity.c", [("    memmove(first + 1, first,", "    memmove(first, first,")], ["unit.test_diversity"],
          "a row that waits is lost when another is taken"),
]

QUERIES = [
    Plant("share_rounded_up", PAGE, [("floor(d->share * (double)r->limit)", "ceil(d->share * (double)r->limit)")], T_RETRIEVE,
          "SHARE 0.3 of 5 rows lets two in"),
    Plant("history_a_row_short", PAGE, [("            reach = m->rules[i].window - 1;", "            reach = m->rules[i].window - 2;")], T_CURSORS,
          "a PER window does not reach all the way back over pages"),
    Plant("waiting_rows_forgotten", PAGE, [("(i < out.frontier || waited(r, &r->candidates[i]))", "i < out.frontier")], T_CURSORS,
          "rows that wait since an earlier page never come"),
    Plant("shown_rows_come_again", SCAN, [("    if (listed(r->kind, p->shown,", "    if (false && listed(r->kind, p->shown,")], T_CURSORS,
          "a row whose score falls between two pages comes twice", quick=True),
    Plant("generation_not_compared", SCAN, [(" && generations[low] == slot_generation(k, slot)", "")], T_CURSORS,
          "a new item in the slot of one that was shown never comes"),
    Plant("scan_ends_one_row_early", SCAN, [("s->eligible > s->best.k)", "s->eligible >= s->best.k)")], T_CURSORS,
          "a page that is just full is taken for the last"),
    Plant("cursor_not_summed", CURSOR, [("if (in.failed || sum != checksum64(in.at, (size_t)(in.end - in.at)))", "if (in.failed || sum == 0)")], T_CURSORS,
          "a damaged cursor is taken", quick=True),
    Plant("cursor_of_other_parameters", "core/query/bind.c", [("            h = hash_value(h, &r->params[i]);", "            h = mix64(h);")], T_CURSORS,
          "a cursor goes on with other parameters"),
    Plant("cursor_moment_not_pinned", CURSOR, [("    r->now = (int64_t)reader_u64(&in);", "    (void)reader_u64(&in);")], T_CURSORS,
          "pages are of different moments"),
    Plant("cursor_reads_beyond_its_end", "core/base/buffer.c", [("n > (size_t)(r->end - r->at))", "n > (size_t)(r->end - r->at) + 4)")], T_CURSORS,
          "bytes behind a cursor are looked at", build="asan"),
    Plant("exclude_ignored_when_driven", SCAN, [("    if (r->exclude.n_texts || r->exclude.n_numbers) {", "    if (r->work.driver == DRIVE_SCAN && (r->exclude.n_texts || r->exclude.n_numbers)) {")],
          T_RETRIEVE, "EXCLUDE holds for scans only", quick=True),
    Plant("expiry_ignored_by_columns", SCAN, [("        s->alive[i] &= r->times[i] == INT64_MIN || r->times[i] > gone;", "        s->alive[i] &= r->times[i] <= INT64_MAX && gone <= INT64_MAX;")],
          T_RETRIEVE, "a scan shows what has expired"),
    Plant("last_batch_dropped", SCAN, [("    if (!s->stop)\n        driven_rows(s, n);\n}\n\nstatic void drive_keys(", "    if (!s->stop && n == BLOCK_MAX)\n        driven_rows(s, n);\n}\n\nstatic void drive_keys(")],
          T_RETRIEVE, "a driven search forgets the rows that do not fill a block", quick=True),
    Plant("merged_slot_comes_twice", SCAN, [("        if (merge_fill(m, i) && m->sides[i].slots[m->sides[i].at] == *slot)\n            m->sides[i].at++;",
                                             "        if (merge_fill(m, i) && m->sides[i].slots[m->sides[i].at] == *slot) {\n            m->sides[i].at++;\n            break;\n        }")],
          T_RETRIEVE, "a row with two of the keywords is there twice"),
    Plant("repeated_key_comes_twice", SCAN, [("        if (repeated || (", "        if ((repeated && count == 0) || (")], T_RETRIEVE,
          "a key that IN names twice gives two rows"),
    Plant("word_in_list_with_null", "core/query/match.c", [("    return m->has_null ? TRUTH_NULL : TRUTH_FALSE;", "    return TRUTH_FALSE;")], T_RETRIEVE,
          "NOT IN a list of words with a null is true"),
    Plant("moment_before_an_event", "core/query/retrieve.c", [("        if (newest > r->now)", "        if (newest > r->now + 1000000)")], T_RETRIEVE,
          "AT is let in front of an event that would be counted"),
    Plant("integer_column_minimum_is_null", "core/query/gather.c", [("        if (ask && r->rows[i] && f->def.type == FIELD_INTEGER)\n            null = row_null(r->rows[i], f->index);\n", "")],
          T_RETRIEVE, "the least integer reads as null from a column"),
    Plant("depth_not_counted", "core/query/parser_expression.c", [("    return ++p->depth <= MAX_DEPTH || too_deep(p, p->token.position);", "    return ++p->depth <= 100 * MAX_DEPTH || too_deep(p, p->token.position);")],
          ["unit.test_parser_faults"], "parentheses nest until the stack is full"),
    Plant("height_one_too_many", "core/query/parser_expression.c", [("    if (argument->height >= MAX_DEPTH)", "    if (argument->height > MAX_DEPTH)")],
          ["unit.test_parser_faults"], "a tree may be one higher than the limit"),
    Plant("doubled_quote_stays_doubled", "core/query/lexer.c", [("        i += lx->text[i] == quote; /* of a pair only the first */\n", "")],
          ["unit.test_lexer", "unit.test_parser"], "'it''s' keeps both quotes"),
    Plant("duration_cut_to_whole_units", "core/query/lexer.c", [("+ (int64_t)(part / scale);", "+ (int64_t)(part / scale / (uint64_t)unit) * unit;")], ["unit.test_lexer"],
          "1.5h is one hour"),
]

ENGINE = [
    Plant("truncated_record_taken", CHANGE, [("        return decode_item(k, &r, arena, c) && !r.failed && r.at == r.end;", "        return decode_item(k, &r, arena, c) && r.at == r.end;")],
          T_ENGINE, "a record that ends in the middle of a value is applied", quick=True),
    Plant("record_with_more_behind_it", CHANGE, [("        return c->text && r.at == r.end;", "        return c->text != NULL;")], T_ENGINE,
          "bytes behind a record go unnoticed"),
    Plant("batch_not_checked_whole", "core/engine/batch.c", [("    for (uint64_t i = 0; i < b->n_rows && b->n_rows > 1 && !s; i++) {", "    for (uint64_t i = 0; i < b->n_rows && b->n_rows > 1000 && !s; i++) {")],
          T_HOST, "rows before a bad one are put, and the batch is refused"),
    Plant("old_handle_taken", CHANGE, [("((current ^ generation) & 0xffffff) != 0", "((current ^ generation) & 0xff0000) != 0")], T_EVENTS,
          "the handle of a dead item counts for the one that has its slot"),
    Plant("death_by_time_not_told", CHANGE, [("    tell(db, &c);\n}\n\n/* ---- Check", "    (void)db;\n}\n\n/* ---- Check")], T_ENGINE,
          "a replay keeps what has expired"),
    Plant("future_event_not_clamped", CHANGE, [("    if (c->at > c->now || c->at == WALL_CLOCK)", "    if (c->at == WALL_CLOCK)")], T_EVENTS,
          "an event ahead of the clock is counted in the future"),
    Plant("expired_item_takes_events", CHANGE, [("    if (take(&k->expires) && !items_at_rcu(", "    if (false && !items_at_rcu(")], T_EVENTS,
          "an event of an expired item is counted"),
]

PLANTS: list[Plant] = [*BASE, *KEYS, *ITEMS, *SIGNALS, *RANK, *QUERIES, *ENGINE]
