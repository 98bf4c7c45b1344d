# SPDX-License-Identifier: Apache-2.0
"""The modules that are proven, and the faults that their specifications must refute."""

import re
from collections.abc import Iterator
from pathlib import Path

from atoll.records import dataclass
from atoll_sim.chip.sources import RTL
from atoll_sim.formal.prove import Design, Verdict, decide

FOLDER = Path(__file__).with_name("rtl")
PROPERTY = re.compile(r"((?: *//[^\n]*\n)+) *(\w+) *: *(assert|assume)\b")
ASSERTED = re.compile(r"Asserted: (\w+)\.(\w+)")


@dataclass(frozen=True)
class Fault:
    """A change of the RTL that a proof must refute.

    Attributes:
        name: What is wrong then, in a few words.
        breaks: The property that breaks, maybe beside others.
        text: Stands once in the RTL of the proof.
        instead: What stands there then.
    """

    name: str
    breaks: str
    text: str
    instead: str


@dataclass(frozen=True)
class Proof:
    """A module and what is shown of it.

    Attributes:
        module: Its name without `atoll_`; the specification is the module `proof_NAME`.
        faults: What is refuted.
        parts: The modules that it consists of, likewise.
        depth: Cycles from the first one, or None if the proof is unbounded.
        parameters: Of the specification; with them the proof has another name.
        several_clocks: It has more than one clock.
        models: Parts for which a model of the same name stands.
        others: Other modules of the specification.
        unbroken: Properties that no planted fault breaks, with the reason.
    """

    module: str
    faults: tuple[Fault, ...]
    parts: tuple[str, ...] = ()
    depth: int | None = None
    parameters: tuple[tuple[str, int], ...] = ()
    several_clocks: bool = False
    models: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    unbroken: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the proof is called: the module, with the parameters."""
        return "-".join((self.module, *(f"{name}={value}" for name, value in self.parameters)))

    @property
    def specifications(self) -> tuple[Path, ...]:
        """The files of the properties."""
        return tuple(FOLDER / f"{name}.sv" for name in (*self.others, f"proof_{self.module}"))

    @property
    def rtl(self) -> tuple[Path, ...]:
        """The files of the module and its parts."""
        return tuple(RTL / f"atoll_{name}.sv" for name in (*self.parts, self.module))

    @property
    def properties(self) -> dict[str, str]:
        """The labels of the specification's properties, and what each says."""
        return dict(self._statements("assert"))

    @property
    def assumptions(self) -> dict[str, str]:
        """The labels of its assumptions, and what each says, with where a simulation asserts it."""
        return dict(self._statements("assume"))

    def _statements(self, kind: str) -> Iterator[tuple[str, str]]:
        for file in self.specifications:
            for comment, label, which in PROPERTY.findall(file.read_text()):
                if which == kind:
                    yield label, " ".join(line.strip(" /") for line in comment.splitlines())

    def design(self, rtl: tuple[Path, ...] | None = None) -> Design:
        """Return what is proven, with other files of the RTL if they are given."""
        return Design(
            top=f"proof_{self.module}",
            sources=(
                RTL / "atoll_bus_pkg.sv",
                *(FOLDER / f"atoll_{name}.sv" for name in self.models),
                *(rtl or self.rtl),
                *self.specifications,
            ),
            includes=(FOLDER, RTL),
            parameters=self.parameters,
            several_clocks=self.several_clocks,
        )


def broken_by(verdict: Verdict) -> frozenset[str]:
    """Return the labels of the specification's properties that a verdict refutes."""
    own = (name for name in verdict.refuted if not name.startswith("u_dut."))
    return frozenset(name.rpartition(".")[2] for name in own)


def prove(proof: Proof) -> Verdict:
    """Prove a module as it is."""
    return decide(proof.design(), depth=proof.depth)


def refute(proof: Proof, fault: Fault, folder: Path) -> Verdict:
    """Plant a fault in a copy of the RTL in a folder, and try to prove that.

    Raises:
        ValueError: The text that the fault changes does not stand there once.
    """
    texts = {path: path.read_text() for path in proof.rtl}
    if (count := sum(text.count(fault.text) for text in texts.values())) != 1:
        raise ValueError(f"'{fault.text}' stands {count} times in the RTL of {proof.module}")
    for path, text in texts.items():
        (folder / path.name).write_text(text.replace(fault.text, fault.instead))
    copies = tuple(folder / path.name for path in proof.rtl)
    return decide(proof.design(copies), depth=proof.depth)


ARBITER = Proof(
    "arbiter",
    (
        Fault("served again", "in_turn", "after_q <= ~(grant_o |", "after_q <= ~('0 |"),
        Fault(
            "the turn skips",
            "fair",
            "~(grant_o | (grant_o - NumPorts'(1)))",
            "~grant_o",
        ),
        Fault("fixed priority", "fair", "else if (taken_i) after_q", "else if (1'b0) after_q"),
        Fault("several grants", "one_grant", "first & (~first + NumPorts'(1))", "first"),
        Fault(
            "the turn ends without service",
            "in_turn",
            "else if (taken_i) after_q",
            "else if (|request_i) after_q",
        ),
        Fault(
            "an idle port is granted", "only_requesters", "? request_i & after_q :", "? after_q :"
        ),
        Fault("no second round", "nobody_idle", "after_q : request_i;", "after_q : '0;"),
    ),
)

FIREWALL = Proof(
    "firewall",
    (
        Fault(
            "a byte past the window",
            "only_reachable",
            "last <= readable_i[i].last",
            "first <= readable_i[i].last",
        ),
        Fault(
            "writes by permission to read",
            "only_reachable",
            "mst_we_i ? |writable : |readable;\n  assign busy",
            "|readable;\n  assign busy",
        ),
        Fault(
            "a place is not asked for",
            "only_mapped",
            "writable[i] = mst_mapped_i && ",
            "writable[i] = ",
        ),
        Fault(
            "the last byte is outside",
            "reachable_passes",
            "last <= writable_i[i].last",
            "last < writable_i[i].last",
        ),
        Fault("denials overtake", "denied_waits", "!hit && !busy && !deny_q", "!hit && !deny_q"),
        Fault(
            "denials follow each other", "denied_waits", "!hit && !busy && !deny_q", "!hit && !busy"
        ),
        Fault(
            "a denial waits for ever",
            "denied_is_taken",
            "if (!asked && bus_rvalid_i)",
            "if (!asked && bus_rvalid_i && !failed)",
        ),
        Fault(
            "a denied read sees the bus",
            "denied_leaks_nothing",
            "deny_q || failed ? '0",
            "failed ? '0",
        ),
        Fault(
            "a denial looks right",
            "denied_leaks_nothing",
            "deny_q ? RespDecode : bus_resp_i",
            "bus_resp_i",
        ),
        Fault(
            "an answer is lost",
            "answers_pass",
            "bus_rvalid_i || deny_q;",
            "(bus_rvalid_i && !mst_valid_i) || deny_q;",
        ),
        Fault("a failed read shows data", "data_pass", "deny_q || failed ? '0", "deny_q ? '0"),
        Fault(
            "a denial is not told",
            "denials_told",
            "hit ? bus_ready_i : blocked_o",
            "hit ? bus_ready_i : !busy",
        ),
        Fault(
            "a later denial is kept",
            "kept_as_it_was",
            "(blocked_o || failed) && (!violated_o || clear_i)",
            "(blocked_o || failed)",
        ),
        Fault(
            "clearing wins over a denial",
            "first_is_kept",
            "(!violated_o || clear_i)",
            "!clear_i && !violated_o",
        ),
    ),
)

DEMUX = Proof(
    "demux",
    (
        Fault(
            "the last byte belongs to nobody",
            "asked_at_once",
            "mst_addr_i <= targets_i[i].last",
            "mst_addr_i < targets_i[i].last",
        ),
        Fault(
            "all targets are asked",
            "only_the_named",
            "allowed ? hit & ~dead_q",
            "allowed ? ~dead_q",
        ),
        Fault("a target is asked early", "one_at_a_time", "!busy || hit == last_q", "1'b1"),
        Fault("targets are asked one by one", "asked_at_once", "!busy || hit == last_q", "!busy"),
        Fault("taken by nobody", "taken_by_target", "|(hit & (tgt_ready_i | dead_q))", "1'b1"),
        Fault(
            "a request before the last answer is lost",
            "never_lost",
            "assign tgt_valid_o = mst_valid_i && allowed",
            "assign tgt_valid_o = mst_valid_i && allowed && !(busy && outstanding_q == 8'd3)",
        ),
        Fault(
            "another target's data",
            "answers_pass",
            "answers[i] ? tgt_rdata_i[i] : '0",
            "tgt_rdata_i[0]",
        ),
        Fault(
            "errors pass for right",
            "answers_pass",
            "answers[i] ? tgt_resp_i[i] : gen_answer",
            "answers[i] ? '0 : gen_answer",
        ),
        Fault(
            "late answers count",
            "none_made_up",
            "mst_rvalid_o = gave_up || answers != '0",
            "mst_rvalid_o = gave_up || tgt_rvalid_i != '0",
        ),
        Fault(
            "given up looks right",
            "errors_for_the_lost",
            "gave_up ? RespSlave",
            "gave_up ? RespOkay",
        ),
        Fault("a target comes back", "never_again", "hit & ~dead_q : '0", "hit : '0"),
        Fault(
            "patience never ends",
            "always_ends",
            "waiting ? waited_q + TimerBits'(1)",
            "waiting ? '0",
        ),
        Fault(
            "patience ends early",
            "answers_pass",
            "waited_q == TimerBits'(TimeoutCycles - 1)",
            "waited_q == TimerBits'(TimeoutCycles - 2)",
        ),
    ),
)

MERGE = Proof(
    "merge",
    (
        Fault(
            "another port's address",
            "from_a_port",
            "addr_o  = mst_addr_i[i];",
            "addr_o  = mst_addr_i[0];",
        ),
        Fault(
            "all ports are told", "one_is_served", "taken ? chosen : '0", "taken ? mst_valid_i : '0"
        ),
        Fault(
            "told before it is taken",
            "one_is_served",
            "taken ? chosen : '0",
            "valid_o ? chosen : '0",
        ),
        Fault("a shown request changes", "holds", "valid_o && !ready_i ? chosen : '0", "'0"),
        Fault(
            "one place is never used",
            "never_idle",
            "valid_o     = |chosen && !full",
            "valid_o     = |chosen && !full && !(awaiting && owner[0] && chosen[2])",
        ),
        Fault("no place is asked for", "places", "|chosen && !full", "|chosen"),
        Fault("fixed priority", "fair", "else if (taken_i) after_q", "else if (1'b0) after_q"),
        Fault(
            "the newest owner has the answer",
            "to_its_port",
            "rvalid_i ? owner : '0",
            "rvalid_i ? (chosen != '0 ? chosen : owner) : '0",
        ),
        Fault(
            "each port has the answer", "to_its_port", "rvalid_i ? owner : '0", "rvalid_i ? '1 : '0"
        ),
        Fault(
            "answers without a question",
            "none_made_up",
            "rvalid_i ? owner : '0",
            "awaiting ? owner : '0",
        ),
        Fault(
            "data of failed answers vanish",
            "data_pass",
            "assign mst_rdata_o  = rdata_i;",
            "assign mst_rdata_o  = resp_i == RespOkay ? rdata_i : '0;",
        ),
    ),
    parts=("arbiter", "fifo"),
    others=("watched_order",),
)

VIEW = Proof(
    "view",
    (
        Fault(
            "translated the other way",
            "same_offset",
            "addr_i - views_i[i].first + memories_i[i].first",
            "addr_i - memories_i[i].first + views_i[i].first",
        ),
        Fault(
            "bits instead of a sum",
            "same_offset",
            "addr_i - views_i[i].first + memories_i[i].first",
            "(addr_i - views_i[i].first) | memories_i[i].first",
        ),
        Fault(
            "the view begins a byte early",
            "in_memory",
            "addr_i >= views_i[i].first",
            "addr_i + 1 >= views_i[i].first",
        ),
        Fault(
            "all addresses are translated",
            "others_stay",
            "if (seen[i]) addr_o",
            "if (seen[i] || !hidden[0]) addr_o",
        ),
        Fault(
            "the memory stays where it was",
            "hidden",
            "!Aliases[i] && addr_i >=",
            "Aliases[i] && addr_i >=",
        ),
        Fault("an alias hides its memory", "mapped_else", "!Aliases[i] && addr_i >=", "addr_i >="),
        Fault(
            "a view over its memory is hidden", "mapped_else", "|seen || !(|hidden)", "!(|hidden)"
        ),
    ),
)

ACCESS_FAULTS = (
    Fault(
        "every access reaches the device",
        "one_word",
        "? StAccess : StAnswer",
        "? StAccess : StAccess",
    ),
    Fault(
        "the wrong word's address",
        "right_address",
        "addr_d = addr_i + AddrBits'(4 * lane)",
        "addr_d = addr_i",
    ),
    Fault(
        "the first word's data",
        "right_data",
        "data_d = wdata_i[32*lane+:32]",
        "data_d = wdata_i[31:0]",
    ),
    Fault("errors pass for right", "right_answer", "error_i ? RespSlave : RespOkay", "RespOkay"),
    Fault("a failed read shows data", "right_answer", "we_q || error_i ? '0", "we_q ? '0"),
    Fault("an answer in the first lane", "right_answer", "(data_q) << (32 * lane_q)", "(data_q)"),
    Fault(
        "two words look right",
        "two_words_fail",
        "resp_d = RespSlave;\n        if",
        "resp_d = RespOkay;\n        if",
    ),
    Fault(
        "a request is taken early",
        "one_at_a_time",
        "assign ready_o  = state_q == StIdle",
        "assign ready_o  = state_q != StAccess",
    ),
    Fault(
        "an answer too many",
        "answered",
        "assign rvalid_o = state_q == StAnswer",
        "assign rvalid_o = state_q == StAnswer || (access_o && done_i)",
    ),
)
"""What is planted in the part that the adapters to APB, OBI and Wishbone share."""

BUS_TO_APB = Proof(
    "bus_to_apb",
    (
        *ACCESS_FAULTS,
        Fault(
            "no setup cycle",
            "setup_first",
            "assign m_apb_penable_o = enable_q",
            "assign m_apb_penable_o = access",
        ),
        Fault(
            "done in the setup cycle",
            "holds",
            "done            = enable_q && m",
            "done            = m",
        ),
        Fault(
            "selected in the cycle of the answer",
            "only_pending",
            "assign m_apb_psel_o    = access",
            "assign m_apb_psel_o    = access || rvalid_o",
        ),
        Fault(
            "the enable stays", "setup_first", "enable_q <= access && !done", "enable_q <= access"
        ),
        Fault("reads have strobes", "reads_strobe_nothing", "we ? be : '0", "be"),
        Fault(
            "a ready that waits ends the access",
            "selected",
            "done            = enable_q && m_apb_pready_i",
            "done            = enable_q",
        ),
        Fault(
            "data change in a transfer",
            "holds",
            "assign m_apb_pwrite_o  = we;",
            "assign m_apb_pwrite_o  = we && enable_q;",
        ),
    ),
    parts=("word_access",),
    others=("register_access",),
)

BUS_TO_OBI = Proof(
    "bus_to_obi",
    (
        *ACCESS_FAULTS,
        Fault(
            "asked again after the grant",
            "asked_until_granted",
            "assign m_obi_req_o = access && !granted_q",
            "assign m_obi_req_o = access",
        ),
        Fault(
            "a grant counts as the answer",
            "answered",
            "done        = granted_q && m_obi_rvalid_i",
            "done        = granted_q",
        ),
        Fault(
            "asked in the cycle of the answer",
            "only_pending",
            "assign m_obi_req_o = access && !granted_q",
            "assign m_obi_req_o = (access || rvalid_o) && !granted_q",
        ),
        Fault(
            "the request drops while it waits",
            "holds",
            "granted_q ? !done : m_obi_req_o && m_obi_gnt_i",
            "granted_q ? !done : m_obi_req_o",
        ),
        Fault(
            "reads write", "right_address", "assign m_obi_we_o  = we", "assign m_obi_we_o  = 1'b1"
        ),
    ),
    parts=("word_access",),
    others=("register_access",),
)

BUS_TO_WISHBONE = Proof(
    "bus_to_wishbone",
    (
        *ACCESS_FAULTS,
        Fault(
            "the cycle stays open",
            "cycle_until_answer",
            "assign m_wb_cyc_o = access",
            "assign m_wb_cyc_o = access || rvalid_o",
        ),
        Fault(
            "the strobe waits for the acknowledge",
            "one_access",
            "assign m_wb_stb_o = access",
            "assign m_wb_stb_o = access && !m_wb_ack_i",
        ),
        Fault(
            "a failure does not end the cycle",
            "only_pending",
            "m_wb_ack_i || m_wb_err_i",
            "m_wb_ack_i",
        ),
        Fault(
            "selects change",
            "holds",
            "assign m_wb_sel_o = be",
            "assign m_wb_sel_o = m_wb_ack_i ? '1 : be",
        ),
        Fault("all selects", "right_data", "assign m_wb_sel_o = be", "assign m_wb_sel_o = '1"),
        Fault(
            "an old acknowledge counts",
            "cycle_until_answer",
            "assign done       = ",
            "logic old_q;\n  always_ff @(posedge clk_i) old_q <= m_wb_ack_i;\n  assign done       = old_q || ",
        ),
    ),
    parts=("word_access",),
    others=("register_access",),
)

BUS_TO_AXIL = Proof(
    "bus_to_axil",
    (
        Fault(
            "every access reaches the device",
            "one_word",
            "? StSend : StAnswer",
            "? StSend : StSend",
        ),
        Fault(
            "the wrong word's address", "right_address", "addr_i + AddrBits'(4 * lane)", "addr_i"
        ),
        Fault("the first word's data", "right_data", "wdata_i[32*lane+:32]", "wdata_i[31:0]"),
        Fault("errors pass for right", "right_answer", "we_q ? m_axil_bresp_i :", "we_q ? 2'b00 :"),
        Fault("an answer in the first lane", "right_answer", "<< (32 * lane_q)", "<< 0"),
        Fault(
            "two words look right",
            "two_words_fail",
            "resp_d         = RespSlave",
            "resp_d         = RespOkay",
        ),
        Fault(
            "a request is taken early",
            "one_at_a_time",
            "assign ready_o  = state_q == StIdle",
            "assign ready_o  = state_q != StSend",
        ),
        Fault(
            "answered when handed over",
            "answered",
            "!data_left_d) state_d = StWait",
            "!data_left_d) state_d = StAnswer",
        ),
        Fault(
            "data twice",
            "handed_over_once",
            "if (m_axil_wready_i) data_left_d = 1'b0",
            "if (m_axil_wready_i && !address_left_d) data_left_d = 1'b0",
        ),
        Fault(
            "the address waits for the data",
            "aw_holds",
            "StSend && we_q && address_left_q",
            "StSend && we_q && address_left_q && m_axil_wready_i",
        ),
        Fault(
            "data withdrawn",
            "w_holds",
            "state_q == StSend && data_left_q",
            "state_q == StSend && data_left_q && !m_axil_awready_i",
        ),
        Fault(
            "a read's address withdrawn",
            "ar_holds",
            "!we_q && address_left_q",
            "!we_q && address_left_q && !m_axil_rvalid_i",
        ),
        Fault(
            "an answer before the access",
            "answer_after_access",
            "m_axil_bready_o  = state_q == StWait && we_q",
            "m_axil_bready_o  = state_q != StIdle && we_q",
        ),
        Fault(
            "a write reads, too",
            "one_direction",
            "m_axil_rready_o  = state_q == StWait && !we_q",
            "m_axil_rready_o  = state_q == StWait",
        ),
        Fault(
            "sent without a word",
            "goes_on",
            "m_axil_rready_o  = state_q == StWait && !we_q",
            "m_axil_rready_o  = state_q == StWait && !we_q && m_axil_rvalid_i",
        ),
        Fault(
            "a second answer",
            "only_pending",
            "if (we_q ? m_axil_bvalid_i : m_axil_rvalid_i) state_d = StAnswer",
            "if (we_q ? m_axil_bvalid_i : m_axil_rvalid_i) state_d = resp_q == RespSlave ? StWait : StAnswer",
        ),
    ),
    parts=("rest_clock",),
    others=("register_access",),
)

OBI_TO_BUS = Proof(
    "obi_to_bus",
    (
        Fault(
            "bits of the lane stay",
            "only_requests",
            "{s_obi_addr_i[31:BusBits], BusBits'(0)}",
            "s_obi_addr_i",
        ),
        Fault("enables of the first lane", "right_bytes", "<< (PortBytes * lane)", "<< 0"),
        Fault(
            "data in one lane alone", "right_bytes", "{Lanes{s_obi_wdata_i}}", "64'(s_obi_wdata_i)"
        ),
        Fault(
            "granted before the bus takes it",
            "granted_once",
            "assign s_obi_gnt_o    = taken",
            "assign s_obi_gnt_o    = valid_o",
        ),
        Fault(
            "one beat at a time", "never_idle", "s_obi_req_i && !full", "s_obi_req_i && !awaiting"
        ),
        Fault("no place is asked for", "places", "s_obi_req_i && !full", "s_obi_req_i"),
        Fault(
            "withdrawn when an answer comes",
            "holds",
            "s_obi_req_i && !full",
            "s_obi_req_i && !full && !rvalid_i",
        ),
        Fault(
            "a failed beat is not answered",
            "answers_pass",
            "s_obi_rvalid_o = rvalid_i",
            "s_obi_rvalid_o = rvalid_i && resp_i == RespOkay",
        ),
        Fault(
            "the lane of the request of now",
            "right_lane",
            "[8*PortBytes*oldest+:8*PortBytes]",
            "[8*PortBytes*lane+:8*PortBytes]",
        ),
        Fault(
            "decode errors pass for right",
            "errors_pass",
            "resp_i != RespOkay",
            "resp_i == RespSlave",
        ),
    ),
    parts=("fifo",),
    others=("watched_order",),
)

WISHBONE_FAULTS = (
    Fault("enables of the first lane", "right_beat", "<< (PortBytes * lane)", "<< 0"),
    Fault("reads write", "right_beat", "assign we_o    = asked.we", "assign we_o    = 1'b1"),
    Fault(
        "the lane of the beat of now",
        "right_lane",
        "[8*PortBytes*oldest+:8*PortBytes]",
        "[8*PortBytes*lane+:8*PortBytes]",
    ),
    Fault(
        "errors are acknowledged, too",
        "answered",
        "rvalid_i && live && resp_i == RespOkay",
        "rvalid_i && live",
    ),
    Fault(
        "given up and answered", "given_up_is_silent", "s_wb_cyc_i && stale_q == '0", "s_wb_cyc_i"
    ),
    Fault(
        "one more is given up",
        "answered",
        "if (!s_wb_cyc_i) stale_q <= outstanding;",
        "if (!s_wb_cyc_i) stale_q <= outstanding + CountBits'(1);",
    ),
    Fault(
        "acknowledged without an answer",
        "none_made_up",
        "rvalid_i && live && resp_i == RespOkay",
        "awaiting && live && resp_i == RespOkay",
    ),
    Fault("answers between cycles", "none_made_up", "s_wb_cyc_i && stale_q == '0", "stale_q == '0"),
)

WISHBONE_TO_BUS = Proof(
    "wishbone_to_bus",
    (
        *WISHBONE_FAULTS,
        Fault(
            "asked without a strobe",
            "only_beats",
            "s_wb_cyc_i && s_wb_stb_i && outstanding_q == '0",
            "s_wb_cyc_i && outstanding_q == '0",
        ),
        Fault(
            "a beat twice",
            "only_beats",
            "s_wb_cyc_i && s_wb_stb_i && outstanding_q == '0",
            "s_wb_cyc_i && s_wb_stb_i && outstanding_q != CountBits'(Depth)",
        ),
        Fault(
            "a beat without bytes is left out",
            "never_idle",
            "outstanding_q == '0;",
            "outstanding_q == '0 && s_wb_sel_i != '0;",
        ),
        Fault(
            "the classic port stalls",
            "stalls_when_full",
            "assign s_wb_stall_o = 1'b0",
            "assign s_wb_stall_o = outstanding_q != '0",
        ),
        Fault(
            "no place is asked for",
            "places",
            "s_wb_cyc_i && s_wb_stb_i && outstanding_q == '0",
            "s_wb_cyc_i && s_wb_stb_i",
        ),
        Fault(
            "data of answers in the upper lane",
            "holds",
            "{Lanes{asked.data}}",
            "{rdata_i[31:0], asked.data}",
        ),
    ),
    parts=("fifo",),
    others=("watched_order",),
)

WISHBONE_PIPELINED = Proof(
    "wishbone_to_bus",
    (
        *WISHBONE_FAULTS,
        Fault(
            "two places too few",
            "stalls_when_full",
            "outstanding_q == CountBits'(Depth)",
            "outstanding_q >= CountBits'(Depth - 2)",
        ),
        Fault(
            "no place is asked for", "places", "full || outstanding_q == CountBits'(Depth)", "full"
        ),
        Fault(
            "started in a stall",
            "only_beats",
            "s_wb_cyc_i && s_wb_stb_i && !s_wb_stall_o",
            "s_wb_cyc_i && s_wb_stb_i",
        ),
        Fault(
            "a strobe between cycles starts",
            "only_beats",
            "assign started      = s_wb_cyc_i && ",
            "assign started      = ",
        ),
        Fault("dropped when the bus waits", "holds", ".pop_i  (taken)", ".pop_i  (valid_o)"),
        Fault("an idle bus", "never_idle", ".valid_o(valid_o)", ".valid_o(queued)"),
    ),
    parts=("fifo",),
    parameters=(("Pipelined", 1),),
    others=("watched_order",),
)

AXIL_TO_BUS = Proof(
    "axil_to_bus",
    (
        Fault(
            "a write without its data",
            "only_writes",
            "address_valid && data_valid && write_credit_q",
            "address_valid && write_credit_q",
        ),
        Fault(
            "data overtake",
            "right_write",
            ".push_i (s_axil_wvalid_i && s_axil_wready_o)",
            ".push_i (s_axil_wvalid_i && s_axil_wready_o && address_valid)",
        ),
        Fault("strobes are lost", "right_write", "we_o ? write_strobe :", "we_o ? '1 :"),
        Fault(
            "taken before the bus does",
            "only_reads",
            "assign s_axil_arready_o = took_read",
            "assign s_axil_arready_o = read_allowed",
        ),
        Fault(
            "reads all lanes",
            "right_read",
            "{PortBytes{1'b1}}) << (PortBytes * lane)",
            "{PortBytes{1'b1}}) << 0",
        ),
        Fault(
            "a shown request changes", "holds", "held_q ? held_we_q : choose_write", "choose_write"
        ),
        Fault(
            "one read at a time",
            "never_idle",
            "s_axil_arvalid_i && read_credit_q != '0",
            "s_axil_arvalid_i && read_credit_q == CountBits'(Depth)",
        ),
        Fault(
            "writes first", "turns", "write_allowed && (turn_q || !read_allowed)", "write_allowed"
        ),
        Fault("writes answered when taken", "b_after_bus", "rvalid_i && oldest.we", "took_write"),
        Fault("errors of writes pass for right", "right_b", ".data_i (resp_i)", ".data_i (2'b00)"),
        Fault("reads answered with writes", "r_after_bus", "rvalid_i && !oldest.we", "rvalid_i"),
        Fault(
            "the first lane",
            "right_r",
            "data: rdata_i[8*PortBytes*oldest.lane+:8*PortBytes]",
            "data: rdata_i[31:0]",
        ),
        Fault(
            "answers change",
            "answers_hold",
            "assign s_axil_rresp_o = offered.resp",
            "assign s_axil_rresp_o = offered.resp | resp_i",
        ),
        Fault(
            "no place is asked for",
            "places",
            "s_axil_arvalid_i && read_credit_q != '0",
            "s_axil_arvalid_i",
        ),
        Fault(
            "one address waits",
            "queues",
            "s_axil_awready_o = !address_full",
            "s_axil_awready_o = !address_valid",
        ),
    ),
    parts=("fifo",),
    depth=12,
)

AXI_TO_BUS = Proof(
    "axi_to_bus",
    (
        Fault(
            "shown without data",
            "only_beats",
            "write_beat && s_axi_wvalid_i && !beats_full",
            "write_beat && !beats_full",
        ),
        Fault(
            "each beat begins where the burst does",
            "right_read",
            "((addr_q >> size_q) + 32'd1) << size_q",
            "addr_q + (32'd1 << size_q)",
        ),
        Fault(
            "bytes before the first one",
            "right_read",
            "({AxiBytes{1'b1}} << first)",
            "{AxiBytes{1'b1}}",
        ),
        Fault("strobes are lost", "right_write", "write_bytes & s_axi_wstrb_i", "write_bytes"),
        Fault(
            "data taken early",
            "w_with_bus",
            "s_axi_wready_o = taken && we_o",
            "s_axi_wready_o = valid_o && we_o",
        ),
        Fault(
            "a shown request changes", "holds", "held_q ? held_we_q : choose_write", "choose_write"
        ),
        Fault(
            "one read at a time",
            "never_idle",
            "read_beat && read_credit_q != '0",
            "read_beat && read_credit_q == CountBits'(Depth)",
        ),
        Fault(
            "a gap between bursts",
            "ar_in_turn",
            "allow_i && (!active_q || (taken_i && beat_last_o))",
            "allow_i && !active_q",
        ),
        Fault(
            "more bursts than places",
            "aw_in_turn",
            ".allow_i     (bursts_q != CountBits'(Depth))",
            ".allow_i     (1'b1)",
        ),
        Fault("writes answered as reads", "r_after_bus", "rvalid_i && !oldest.we", "rvalid_i"),
        Fault(
            "the first lane",
            "right_r",
            "data: rdata_i[8*AxiBytes*oldest.lane+:8*AxiBytes]",
            "data: rdata_i[15:0]",
        ),
        Fault(
            "the last beat of now is marked",
            "right_last",
            "last: oldest.last\n",
            "last: read_last\n",
        ),
        Fault(
            "each beat of a write is answered",
            "b_after_bus",
            "rvalid_i && oldest.we && oldest.last",
            "rvalid_i && oldest.we",
        ),
        Fault(
            "the last beat's answer counts",
            "right_b",
            "resp_i > worst_q ? resp_i : worst_q",
            "resp_i",
        ),
        Fault(
            "errors of an earlier burst stay", "right_b", "oldest.last ? RespOkay : worst", "worst"
        ),
        Fault(
            "answers change",
            "answers_hold",
            "assign s_axi_rresp_o  = offered.resp",
            "assign s_axi_rresp_o  = offered.resp | resp_i",
        ),
        Fault("no place is asked for", "places", "read_beat && read_credit_q != '0", "read_beat"),
    ),
    parts=("rest_clock", "fifo", "axi_burst"),
    depth=12,
)

FIFO = Proof(
    "fifo",
    (
        Fault(
            "a push into a full queue is lost",
            "none_lost",
            "if (push_i) pushed_q",
            "if (push_i && !full_o) pushed_q",
        ),
        Fault(
            "full a place early",
            "full_when_full",
            "full_o  = pushed_q == (popped_q ^ (IndexBits + 1)'(Depth))",
            "full_o  = pushed_q[IndexBits-1:0] + IndexBits'(1) == popped_q[IndexBits-1:0]",
        ),
        Fault(
            "the newest comes out",
            "in_order",
            "entries_q[popped_q[IndexBits-1:0]]",
            "entries_q[pushed_q[IndexBits-1:0] - IndexBits'(1)]",
        ),
        Fault(
            "a flush keeps an entry",
            "none_lost",
            "else if (flush_i) begin\n      pushed_q <= '0",
            "else if (flush_i) begin\n      pushed_q <= (IndexBits + 1)'(push_i)",
        ),
        Fault(
            "overwritten when full",
            "in_order",
            "if (push_i) entries_q[pushed_q[IndexBits-1:0]]",
            "if (push_i) entries_q[full_o ? '0 : pushed_q[IndexBits-1:0]]",
        ),
        Fault(
            "there a cycle late",
            "next_cycle",
            "assign valid_o = pushed_q != popped_q",
            "logic [IndexBits:0] late_q;\n  always_ff @(posedge clk_i) late_q <= pushed_q;\n  assign valid_o = late_q != popped_q",
        ),
    ),
)

ASYNC_FIFO = Proof(
    "async_fifo",
    (
        Fault("no Gray code", "none_made_up", "return number ^ (number >> 1)", "return number"),
        Fault(
            "never full",
            "places",
            "assign full_o  = gray(pushed_q) ==",
            "assign full_o  = 1'b0 && gray(pushed_q) ==",
        ),
        Fault(
            "the entry follows its number",
            "in_order",
            "if (push_i) entries_q[pushed_q[IndexBits-1:0]] <= data_i",
            "entries_q[pushed_q[IndexBits-1:0] - IndexBits'(1)] <= data_i",
        ),
        Fault(
            "the newest comes out",
            "head_stays",
            "entries_q[popped_q[IndexBits-1:0]]",
            "entries_q[pushed_q[IndexBits-1:0]]",
        ),
        Fault(
            "a head before it is there",
            "none_made_up",
            "assign valid_o = gray(popped_q) != pushed_seen",
            "assign valid_o = 1'b1",
        ),
        Fault(
            "an entry hides",
            "arrives",
            "assign valid_o = gray(popped_q) != pushed_seen",
            "assign valid_o = gray(popped_q) != pushed_seen && popped_q[0] == 1'b0",
        ),
        Fault(
            "a place is lost",
            "frees",
            "popped_gray = gray(popped_d)",
            "popped_gray = gray(popped_d & ~CountBits'(1))",
        ),
        Fault(
            "what will be popped is told as popped",
            "places",
            "assign popped_gray = gray(popped_d)",
            "assign popped_gray = gray(popped_d + CountBits'(valid_o))",
        ),
    ),
    several_clocks=True,
    models=("synchroniser",),
)

BUS_CROSSING = Proof(
    "bus_crossing",
    (
        Fault("one request too many", "taken_with_place", "awaited_q != CountBits'(Depth)", "1'b1"),
        Fault(
            "one request at a time",
            "taken_with_place",
            "awaited_q != CountBits'(Depth)",
            "awaited_q == '0",
        ),
        Fault(
            "a request twice",
            "only_requests",
            ".pop_i      (bus_valid_o && bus_ready_i)",
            ".pop_i      (bus_valid_o && bus_ready_i && !bus_rvalid_i)",
        ),
        Fault(
            "dropped when the bus waits",
            "holds",
            ".pop_i      (bus_valid_o && bus_ready_i)",
            ".pop_i      (bus_valid_o)",
        ),
        Fault("no Gray code", "only_requests", "return number ^ (number >> 1)", "return number"),
        Fault(
            "the newest answer",
            "right_answer",
            ".data_i     (bus_answer_i)",
            ".data_i     (bus_answer_i || bus_valid_o)",
        ),
        Fault(
            "an answer twice",
            "only_answers",
            ".pop_i      (mst_rvalid_o)",
            ".pop_i      (mst_rvalid_o && !mst_valid_i)",
        ),
        Fault(
            "the request follows",
            "right_request",
            ".data_i     (mst_request_i)",
            ".data_i     (mst_request_i || mst_rvalid_o)",
        ),
    ),
    parts=("async_fifo",),
    several_clocks=True,
    models=("synchroniser",),
)

PROOFS = (
    ARBITER,
    FIREWALL,
    DEMUX,
    MERGE,
    VIEW,
    BUS_TO_APB,
    BUS_TO_AXIL,
    BUS_TO_OBI,
    BUS_TO_WISHBONE,
    OBI_TO_BUS,
    WISHBONE_TO_BUS,
    WISHBONE_PIPELINED,
    AXIL_TO_BUS,
    AXI_TO_BUS,
    FIFO,
    ASYNC_FIFO,
    BUS_CROSSING,
)
