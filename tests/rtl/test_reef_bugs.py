# SPDX-License-Identifier: Apache-2.0
"""Bugs planted in reef: a bench notices each of them."""

import pytest
from tests.benches.reef_sources import SYSTEM_BENCH, SYSTEM_TOP
from tests.benches.runner import FOLDERS, BenchError, run_bench
from tests.rtl.test_reef_system import DEFAULT

from atoll_sim.chip.sources import find_source

pytestmark = [pytest.mark.rtl, pytest.mark.slow]

IN_ELEMENTS = {
    "zero point of the second operand": (
        "reef_element.sv",
        "9'(signed'(second_i)) - 9'(signed'(command_i.second_zero))",
        "9'(signed'(second_i))",
    ),
    "rounding of an operand": (
        "reef_element.sv",
        "rounded_shift(first3_q, first_places, 1'b1)",
        "first3_q >>> first_places",
    ),
    "rounding of a high half": (
        "reef_pkg.sv",
        "(product + {33'd0, nearest, 30'd0}) >> 31",
        "(product + {33'd0, nearest && 1'b0, 30'd0}) >> 31",
    ),
    "products that are rounded once": (
        "reef_element.sv",
        ".once_i       (command_i.once)",
        ".once_i       (1'b0)",
    ),
    "shift of the second operand": ("reef_element.sv", "-command_i.second_shift", "0"),
    "strobes of the next beat": (
        "reef_packer.sv",
        "strobe_q <= emits ? strobe[1] : strobe[0];",
        "strobe_q <= emits ? '0 : strobe[0];",
    ),
    "bytes beyond the last one": ("reef_packer.sv", "(enables_i) <<", "({Bytes{1'b1}}) <<"),
    "tail of the last beat": ("reef_packer.sv", "last_i && strobe[1] != 0;", "1'b0;"),
    "length of the last part": (
        "reef_vector_sequencer.sv",
        "last ? left_q : most;",
        "most;",
    ),
    "place of the next part": (
        "reef_vector_sequencer.sv",
        "offset_q <= offset_q + chunk;",
        "offset_q <= chunk;",
    ),
    "room for the second operand": (
        "reef_vector.sv",
        "step_tag_i.bank[0] ? !second_full : !first_full",
        "!first_full || (step_tag_i.bank[0] && !second_full)",
    ),
    "second half of a step": ("reef_vector.sv", "half_q || masks[1] == 0;", "half_q;"),
    "second operand twice": (
        "reef_pkg.sv",
        "&& command.second_address_again == command.second_address",
        "",
    ),
    "sign of a multiplier": ("reef_pkg.sv", "!multiplier[31] && (shift == 0", "(shift == 0"),
}
"""File, what is right, and what is not; the bench of elements finds it."""

IN_MOVES = {
    "step to the next plane": ("reef_rows.sv", "!ends[1] ? steps_i[1]", "ends[1] ? steps_i[1]"),
    "rows of the next plane": (
        "reef_rows.sv",
        "ends[0] ? counts_i[0] : left_q[0] - 16'd1;",
        "left_q[0] - 16'd1;",
    ),
    "place of the next row": ("reef_packer.sv", "if (start_i || closed_o)", "if (start_i)"),
    "end of a row": ("reef_vector.sv", "unary ? last_q[0] :", "unary ? 1'b0 :"),
    "end of all rows": ("reef_vector.sv", "row_closed && last_row;", "row_closed;"),
    "bytes that fill the last step": (
        "reef_vector.sv",
        "~({InputLanes{1'b1}} << step_unit_i[4:0])",
        "'1",
    ),
    "place in a row of the table": ("reef_table.sv", "row_q[place_q];", "row_q[~place_q];"),
    "beats of the table": ("reef_table.sv", "rows[beat_i[RowBits-1:0]] <=", "rows[0] <="),
    "what is looked up while nothing moves": ("reef_vector.sv", "moving && mapped", "mapped"),
    "a table that nothing looks into": (
        "reef_pkg.sv",
        "(command.mapped || command.table_address == command.source_address)",
        "1'b1",
    ),
    "alignment of a table": (
        "reef_fetch.sv",
        "move.mapped && move.table_address[3:0] != 0",
        "1'b0",
    ),
}
"""Likewise, of the bench of moves."""

IN_SHARES = {
    "sign of the greatest value": (
        "reef_softmax.sv",
        "$signed(value) > $signed(greatest_q)",
        "value > greatest_q",
    ),
    "greatest value of the row before": (
        "reef_softmax.sv",
        "if (flush_i || state_q == StDrain) greatest_q",
        "if (flush_i) greatest_q",
    ),
    "word of a beat": ("reef_softmax.sv", "row_q[word_q][30:0]", "row_q[~word_q][30:0]"),
    "rounding of a term": (
        "reef_softmax.sv",
        "21'(power[30:11]) + 21'd1",
        "21'(power[30:11])",
    ),
    "last term of a sum": (
        "reef_softmax.sv",
        "(state_q == StSum || state_q == StNormalise)",
        "state_q == StSum",
    ),
    "last step of an inverse": ("reef_softmax.sv", "LastProduct = 3'd6", "LastProduct = 3'd4"),
    "an inverse that does not fit": (
        "reef_softmax.sv",
        "guess_q[31:30] == '0 ? guess_q << 1 : 32'sh7fff_ffff",
        "guess_q << 1",
    ),
    "rounding of a share": (
        "reef_softmax.sv",
        "31'((32'(doubled) + 32'd1) >> 1)",
        "doubled >> 1",
    ),
    "the whole as a share": (
        "reef_softmax.sv",
        "rounded > 31'd255 ? 8'd255 :",
        "rounded > 31'd256 ? 8'd255 :",
    ),
    "a result that waits": (
        "reef_softmax.sv",
        "(state_q == StShare && advance)",
        "(state_q == StShare)",
    ),
    "alignment of exponentials": (
        "reef_fetch.sv",
        "else if (move.table_address[3:0] != 0)",
        "else if (1'b0)",
    ),
    "values of a row": ("reef_pkg.sv", " && command.row_bytes <= 32'd4095", ""),
    "words that shares have not": ("reef_pkg.sv", "&& command.counts[1] == 0 &&", "&&"),
}
"""Likewise, of the bench of shares."""

IN_OPERATORS = {
    "rows of the second block": (
        "reef_loader.sv",
        "first_block.row + 14'(block_bytes >> RowBits)",
        "first_block.row + 14'(block_bytes >> RowBits) - 14'd1",
    ),
    "channels of the second block": (
        "reef_loader.sv",
        "first_block.address + OutputLanes",
        "first_block.address",
    ),
    "rows of the next set": (
        "reef_loader.sv",
        "halves && set_q ? WeightBits'(WeightRows / 2) : '0;",
        "'0;",
    ),
    "a set before it is there": (
        "reef_loader.sv",
        "loaded_o      = loaded_q != 0;",
        "loaded_o      = open_q != 0;",
    ),
    "bytes beyond a step": (
        "reef_joiner.sv",
        "data_q <= whole ? data[InputLanes*16-1:InputLanes*8] : data[InputLanes*8-1:0];",
        "data_q <= !whole ? data[InputLanes*16-1:InputLanes*8] : data[InputLanes*8-1:0];",
    ),
    "a step that none follows": ("reef_joiner.sv", "mask_q != 0 && unit != unit_q", "1'b0"),
    "whose steps are depthwise": (
        "reef_joiner.sv",
        "!queued && step_depthwise_i",
        "step_depthwise_i",
    ),
    "sums of a pair": ("reef_array.sv", "tag.bank[0] = second_q;", "tag.bank[0] = 1'b0;"),
    "first of the greatest": (
        "reef_array.sv",
        "$signed(begun) > $signed(tap) ? begun : tap;",
        "!tag_q.first && $signed(begun) > $signed(tap) ? begun : tap;",
    ),
    "sign of the greatest": (
        "reef_array.sv",
        "$signed(begun) > $signed(tap) ? begun : tap;",
        "begun > tap ? begun : tap;",
    ),
    "sums that are rounded once": (
        "reef_loader.sv",
        "once: descriptor_i.once,",
        "once: 1'b0 && descriptor_i.once,",
    ),
    "first rounding of two": (
        "reef_scaler.sv",
        "!once2_q || right2_q == 5'd0",
        "1'b1 || once2_q",
    ),
    "sign where sums are rounded once": (
        "reef_scaler.sv",
        "rounded_shift(high_q, right3_q, !once3_q)",
        "rounded_shift(high_q, right3_q, 1'b1 || once3_q)",
    ),
    "pixels of a pair": (
        "reef_writer.sv",
        "if (collected) next_q[bytes_tag_i.bank[0]]",
        "if (collected) next_q[!bytes_tag_i.bank[0]]",
    ),
    "who gets an answer": (
        "engine_readers.sv",
        "rvalid[owner] = read_rsp_i.rvalid && owner_valid;",
        "rvalid[0] = read_rsp_i.rvalid && owner_valid;",
    ),
}
"""Likewise, of the bench of operators."""

IN_LISTS = {
    "length of the next list": (
        "engine_control.sv",
        "left_d      = link_i.count;",
        "left_d      = link_i.count - 16'd1;",
    ),
    "place of the next list": (
        "engine_control.sv",
        "address_d   = link_i.address;",
        "address_d   = link_i.address + DescriptorBytes;",
    ),
    "a link that is not counted": (
        "engine_control.sv",
        "completed_d = completed_q + 32'd1;\n          address_d",
        "completed_d = completed_q;\n          address_d",
    ),
    "alignment of a link": ("reef_fetch.sv", "link.address[5:0] != 0", "link.address[4:0] != 0"),
    "check of a link": (
        "reef_fetch.sv",
        "else if (check != descriptor.check) error_o = ErrBadCheck;\n    end else if (vector && is",
        "end else if (vector && is",
    ),
    "upper half of a count": ("reef_pkg.sv", "&& command.reserved_2 == 0 &&", "&&"),
    "words that a link has not": ("reef_pkg.sv", "command.reserved_3 == 0 &&", ""),
}
"""Likewise, of the bench of lists."""

IN_WAITS = {
    "input that is missing": (
        "reef_aligner.sv",
        "head_valid && is_input && !empty && !beat_valid_i",
        "head_valid && is_input && empty",
    ),
    "a result that is not taken": ("reef_datapath.sv", "(bytes_valid_o && !bytes_ready_i) ||", ""),
    "weights once for all pixels": (
        "reef_commands.sv",
        "waits_i.weights || waiting",
        "waits_i.weights && waiting",
    ),
    "weights for each pixel": ("reef_aligner.sv", "head.kind == KindWeights &&", "1'b0 &&"),
    "weights while pixels are under way": (
        "reef_sequencer.sv",
        "!loaded_i && idle_i;",
        "!loaded_i;",
    ),
    "counts of the list before": (
        "engine_control.sv",
        "else if (list_i.start) begin\n      cycles_q <= '0;\n      {stalls_q, wait_read_q,",
        "else if (list_i.start) begin\n      cycles_q <= '0;\n      {stalls_q,",
    ),
}
"""Likewise, of the bench of waits."""

PLANTED = {
    **{name: ("reef_elements", *bug) for name, bug in IN_ELEMENTS.items()},
    **{name: ("reef_moves", *bug) for name, bug in IN_MOVES.items()},
    **{name: ("reef_shares", *bug) for name, bug in IN_SHARES.items()},
    **{name: ("reef_operators", *bug) for name, bug in IN_OPERATORS.items()},
    **{name: ("reef_lists", *bug) for name, bug in IN_LISTS.items()},
    **{name: ("reef_waits", *bug) for name, bug in IN_WAITS.items()},
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found(name: str) -> None:
    bench, file, right, wrong = PLANTED[name]
    text = find_source(file, FOLDERS).read_text()
    assert text.count(right) == 1
    sources = [source for source in SYSTEM_BENCH if source != file]
    planted = {file: text.replace(right, wrong), **SYSTEM_TOP}
    with pytest.raises(BenchError, match=f"tests of bench '{bench}' failed"):
        run_bench(bench, "reef_system_bench", sources, DEFAULT, generated=planted)
