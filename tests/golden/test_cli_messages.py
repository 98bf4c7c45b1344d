"""What the user reads when a file that the command line names cannot be used.

Every case runs in a fresh folder with `digits.tflite`, a foreign folder, a chip and odd samples.
"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.refusal import refusal

from atoll.cli import main

ROOT = Path(__file__).parents[2]
MESSAGES = Path(__file__).parent / "cli"
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
STARTUP = ROOT / "compiler" / "atoll" / "bsp" / "startup"

BUILD = ["build", "lagoon", "digits.tflite"]
NATIVE = ["run", "lagoon", "digits.tflite", "--cpu", "native", "--accelerator", "model"]

RUN = ["run", "lagoon", "digits.tflite"]

CORTEX_M55 = [
    *("--set", "devices.cpu.core=cortex_m55"),
    *("--set", "devices.cpu.isa=armv8.1-m.main+mve"),
]
HEXAGON = ["--set", "devices.cpu.core=hexagon", "--set", "devices.cpu.isa=hexagonv68"]
IBEX = ["--set", "devices.cpu.core=ibex"]
PROTECTED = ["--set", "devices.cpu.protection=true"]
ALONE = ["run", "alone.yaml", "digits.tflite", "--cpu", "qemu"]
LARGE_CODE = ["--set", "devices.cpu.code={memory: ssram1, size: 5 MiB}"]
COUNTED = ["--no-accelerators", "--iss"]

MARKS = {
    "hint_too_small": pytest.mark.slow,
    "qemu_with_accelerator": pytest.mark.skipif(
        shutil.which("qemu-system-riscv32") is None, reason="needs qemu-system-riscv32"
    ),
    "qemu_with_other_images": pytest.mark.skipif(
        shutil.which("qemu-system-arm") is None, reason="needs qemu-system-arm"
    ),
}

CASES: dict[str, list[str]] = {
    "chip_unknown": ["check", "lagon"],
    "chip_missing": ["check", "absent.yaml"],
    "chip_folder": ["check", "foreign/"],
    "core_unknown": ["core", "test", "cortex_m34"],
    "core_without_rtl": ["core", "test", "cortex_m33"],
    "run_without_rtl": [*RUN, *CORTEX_M55],
    "run_with_a_large_memory": [*RUN, "--set", "memories.sram.size=512 MiB"],
    "iss_without_core": [*RUN, "--cpu", "iss", *CORTEX_M55],
    "qemu_with_accelerator": [*RUN, "--cpu", "qemu"],
    "qemu_without_machine": ["run", "ours.yaml", "digits.tflite", "--cpu", "qemu"],
    "qemu_with_protection": [*RUN, "--cpu", "qemu", *IBEX, *PROTECTED],
    "qemu_with_other_images": ["run-image", "alone.yaml", "one.npy", "--cpu", "qemu"],
    "qemu_without_room": [*ALONE, "--set", "memories.ssram1.size=8 MiB", *LARGE_CODE],
    "trace_of_relinked": [*ALONE, "--trace", "out.pftrace"],
    "qemu_without_firmware": [*RUN, "--cpu", "qemu", *HEXAGON],
    "firmware_without_startup": ["build", *RUN[1:], "-o", "out", *HEXAGON],
    "calibrate_installed": ["accelerator", "calibrate", "reef", "--write"],
    "calibrate_in_braces": ["accelerator", "calibrate", "./braces.yaml", "--write"],
    "calibrate_without_rtl": ["accelerator", "calibrate", "./idea_part.yaml"],
    "calibrate_plants_nothing": [
        *("accelerator", "calibrate", "reef", "--faults", "0", "--toolchain", "gcc"),
    ],
    "calibrate_reaches_nothing": ["accelerator", "calibrate", "reef", "--coverage", "reached"],
    "calibrate_param_unknown": ["accelerator", "calibrate", "reef", "--param", "lanes=8"],
    "calibrate_param_value": ["accelerator", "calibrate", "reef", "--param", "input_lanes=3"],
    "test_writes_nothing": ["accelerator", "test", "./idea_part.yaml", "--write"],
    "core_calibrated_without_rtl": ["core", "calibrate", "cortex_m33"],
    "core_of_other_isa": ["core", "calibrate", "vexriscv", "--isa", "rv32imc"],
    "core_of_uncounted_isa": ["core", "calibrate", "ibex", "--isa", "rv32imc_zba_zbb_zbs"],
    "core_of_few_runs": ["core", "calibrate", "ibex", "--networks", "11"],
    "core_of_another_chip": ["core", "calibrate", "ibex", "--chip", "lagoon"],
    "core_on_a_chip_of_one_flash": ["core", "calibrate", "picorv32", "--chip", "lagoon"],
    "core_on_a_small_chip": [
        *("core", "calibrate", "picorv32", "--chip", "strait.yaml"),
        *("--set", "pools.shared.size=2 KiB"),
    ],
    "core_in_braces": ["core", "calibrate", "./core_braces.yaml", "--write"],
    "core_installed": ["core", "calibrate", "ibex", "--write"],
    "core_calibrated_by_a_toolchain": ["core", "calibrate", "ibex", "--toolchain", "gcc"],
    "core_set_without_chip": ["core", "calibrate", "ibex", "--set", "a=b"],
    "core_cache_alone": ["core", "calibrate", "ibex", "--cache", "2 KiB"],
    "core_cache_size": ["core", "calibrate", "ibex", "--cache", "2 KB", "--line", "32"],
    "core_test_writes_nothing": ["core", "test", "ibex", "--write", "--networks", "3"],
    "core_test_of_a_processor": ["core", "test", "ibex", "--cpu", "cortex-m23"],
    "core_new_of_nothing": ["core", "new", "mine"],
    "core_new_of_both": ["core", "new", "mine", "--isa", "rv32imc", "--cpu", "cortex-m23"],
    "core_new_of_an_installed_name": ["core", "new", "ibex", "--isa", "rv32imc"],
    "core_new_there": ["core", "new", "mine", "--isa", "rv32imc", "-o", "halts_part.yaml"],
    "core_new_runs_nothing": ["core", "new", "mine", "--isa", "rv32imc", "--jobs", "2"],
    "core_new_isa_unknown": ["core", "new", "mine", "--isa", "rv32imacz"],
    "core_new_processor_spelled": ["core", "new", "mine", "--cpu", "Cortex_M23"],
    "core_new_processor_unknown": ["core", "new", "mine", "--cpu", "cortex-m22"],
    "core_new_processor_without_code": ["core", "new", "mine", "--cpu", "cortex-a7"],
    "core_isa": ["core", "test", "vexriscv", "--isa", "rv32imc"],
    "model_missing": ["run", "lagoon", "absent.tflite"],
    "model_folder": [*BUILD[:2], "foreign", "-o", "out"],
    "model_is_yaml": ["run", "lagoon", "chip.yaml"],
    "set_without_value": ["check", "lagoon", "--set", "devices.cpu.stack.size"],
    "set_unknown_key": ["check", "lagoon", "--set", "devices.cpu.stack.sise=4 KiB"],
    "set_bad_value": ["explain", "lagoon", "--set", "devices.cpu.stack.size=much"],
    "new_name": ["new", "My-Chip"],
    "new_exists": ["new", "chip"],
    "image_of_no_core": ["check-image", "lagoon", "digits.tflite", "--core", "npu"],
    "image_that_is_none": ["check-image", "lagoon", "digits.tflite"],
    "image_that_is_missing": ["check-image", "lagoon", "absent.elf"],
    "stack_only_of_a_chip": ["check-image", "--stack-only", "lagoon", "digits.tflite"],
    "stack_only_of_a_core": ["check-image", "--stack-only", "it.elf", "--core", "x", "--set", "y"],
    "new_accelerator_of_cores": ["new", "accelerator", "mine", "--core", "ibex"],
    "image_of_unknown_networks": ["run-image", "idea.yaml", "digits.tflite", "--cpu", "iss"],
    "serial_without_networks": ["run-image", "lagoon", "it.elf", "--serial", "port"],
    "serial_on_simulated_cores": [
        *("run-image", "lagoon", "it.elf", "--serial", "port", "--cpu", "iss"),
    ],
    "serial_rate_alone": ["run-image", "lagoon", "it.elf", "--baud", "9600"],
    "serial_uart_unknown": ["bsp", "lagoon", "--serial", "pl011@0x4003_4000", "-o", "out"],
    "serial_uart_form": ["bsp", "lagoon", "--serial", "/dev/ttyUSB0", "-o", "out"],
    "serial_uart_beyond": ["bsp", "lagoon", "--serial", "cmsdk@0x1_0000_0000", "-o", "out"],
    "new_of_no_core": ["new", "other", "--core", "cortex_m34"],
    "on_device_names": [
        *(*RUN, "--on-device", "conf_*=npu", "--on-device", "add_3..conv_2d_0=npu"),
        *("--on-device", "add_3=copies:no"),
    ],
    "on_device_fields": [
        *(*RUN, "--on-device", "add_3=nqu", "--on-device", "add_3=device_type:gpu"),
        *("--on-device", "add_3=target:reff", "--on-device", "add_3=memory_scope:global.shred"),
        *("--on-device", "add_3=device_type:cpu,target:reef"),
    ],
    "on_device_nowhere": [*RUN, "--on-device", "add_*=device_type:cpu,virtual_device_id:1"],
    "on_device_clash": [*RUN, "--on-device", "add_*=cpu", "--on-device", "*=device_type:npu"],
    "on_device_form": [*RUN, "--on-device", "add_3=device:npu"],
    "two_models_one_annotation": [*BUILD, "other.tflite", "-o", "out", "--on-device", "a*=npu"],
    "new_memory": ["new", "other", "--memory", "sram:64KiB"],
    "new_memory_without_unit": ["new", "other", "--memory", "sram=64q"],
    "new_parts": ["new", "other", "--memory", "sram=4KiB"],
    "new_into_missing_folder": ["new", "other", "-o", "absent/other.yaml"],
    "new_onto_device": ["new", "other", "-o", "pipe"],
    "diff_of_report_and_chip": ["diff", "lagoon", "estimate.json"],
    "diff_damaged_build": ["diff", "lagoon", "broken"],
    "report_missing": ["report", "absent.json", "-o", "out.html"],
    "report_of_nothing": ["report", "other.json", "-o", "out.html"],
    "report_cut_off": ["report", "cut.json", "-o", "out.html"],
    "report_of_a_failure": ["report", "failed.json", "-o", "out.html"],
    "report_of_another_version": ["report", "estimate.json", "-o", "out.html"],
    "report_damaged": ["report", "old.html", "-o", "out.html"],
    "report_nowhere": ["report", "lagoon"],
    "report_of_instance": ["plan", "--instance", "a.csv", "--report", "out.html"],
    "schema_unknown": ["schema", "sox"],
    "schema_onto_file": ["schema", "--write", "chip.yaml"],
    "build_onto_foreign_folder": [*BUILD, "-o", "foreign"],
    "build_onto_file": [*BUILD, "-o", "chip.yaml"],
    "build_below_file": [*BUILD, "-o", "chip.yaml/out"],
    "keep_in_foreign_folder": ["run", "lagoon", "digits.tflite", "--keep", "foreign"],
    "toolchain_unknown": [*BUILD, "-o", "out", "--toolchain", "icc"],
    "toolchain_unknown_native": [*NATIVE, "--toolchain", "icc"],
    "stage_unknown": [*BUILD, "-o", "out", "--dump-after", "lowering"],
    "scope_on_stack": ["explain", "rfc.yaml", "digits.tflite", "--build", "stack.build"],
    "scope_of_registers": [
        *("explain", "rfc.yaml", "digits.tflite"),
        *("--scope", "depthwise_conv_2d_1.sum0=global.workspace"),
    ],
    "scope_unknown": ["plan", "rfc.yaml", "digits.tflite", "--scope", "image=global.srm"],
    "scope_word": ["plan", "rfc.yaml", "digits.tflite", "--scope", "image=a+b"],
    "scope_region": ["plan", "rfc.yaml", "digits.tflite", "--build", "region.build"],
    "hint_too_small": ["plan", "rfc.yaml", "digits.tflite", "--pin", "softmax_9_out=dtcm@4B"],
    "role_unknown": ["plan", "rfc.yaml", "digits.tflite", "--pin-role", "weights=flash"],
    "player_word": [*NATIVE, "--accelerator", "modell"],
    "player_none": [*NATIVE, "--accelerator", "npu=none"],
    "player_twice": [*NATIVE, "--accelerator", "npu=model", "--accelerator", "npu=rtl"],
    "player_contradiction": [*NATIVE, "--accelerator", "none", "--accelerator", "npu=model"],
    "player_nobody": [*NATIVE, "--accelerator", "nqu=model"],
    "player_without_rtl": ["run", "idea.yaml", "digits.tflite", "--accelerator", "npu=rtl"],
    "formula_without_value": ["plan", "by_zero.yaml", "digits.tflite"],
    "reference_shape": ["run", "own.yaml", "digits.tflite", "--cpu", "native"],
    "thread_without_stack": [*BUILD, "-o", "out", "--thread", "cpu=net"],
    "thread_of_no_core": [*BUILD, "-o", "out", "--thread", "cpu0=main"],
    "thread_twice": [*BUILD, "-o", "out", "--thread", "cpu=main", "--thread", "cpu=net"],
    "thread_of_no_network": [*BUILD, "-o", "out", "--thread", "digit:cpu=main"],
    "place_without_mailbox": ["run", "mute.yaml", "digits.tflite", "--place", "softmax_9=dsp"],
    "emitter_missing": ["run", "emitter.yaml", "digits.tflite"],
    "emitter_no_class": ["plan", "no_class.yaml", "digits.tflite"],
    "emitter_raises": ["plan", "raises.yaml", "digits.tflite"],
    "emitter_identity": ["build", "identity.yaml", "digits.tflite", "-o", "out"],
    "commands_elsewhere": ["plan", "elsewhere.yaml", "digits.tflite"],
    "commands_too_short": ["plan", "short.yaml", "digits.tflite"],
    "model_construction": ["run", "model.yaml", *NATIVE[2:]],
    "rtl_source_missing": ["run", "source.yaml", "digits.tflite"],
    "rtl_folder_missing": ["check", "listed.yaml"],
    "check_several_parts": ["check", "several.yaml"],
    "check_clocks": ["check", "lagoon", "--set", "devices.npu.clock=1 MHz"],
    "samples_missing": [*NATIVE, "--input", "absent.npy"],
    "samples_folder": [*NATIVE, "--input", "foreign"],
    "samples_damaged": [*NATIVE, "--input", "damaged.npy"],
    "samples_shape": [*NATIVE, "--input", "shape.npy"],
    "samples_type": [*NATIVE, "--input", "type.npy"],
    "samples_other_input": [*NATIVE, "--input", "other.npz"],
    "samples_not_arrays": [*NATIVE, "--input", "text.npz"],
    "dataset_missing": [*NATIVE, "--dataset", "absent.npz"],
    "dataset_without_labels": [*NATIVE, "--dataset", "other.npz"],
    "dataset_of_wrong_labels": [*NATIVE, "--dataset", "labels.npz"],
    "dataset_of_real_labels": [*NATIVE, "--dataset", "real.npz"],
    "dataset_of_few_labels": [*NATIVE, "--dataset", "few.npz"],
    "dataset_of_other_shape": [*NATIVE, "--dataset", "odd.npz"],
    "dataset_with_input": [*NATIVE, "--dataset", "few.npz", "--input", "shape.npy"],
    "dataset_of_two_models": [
        *("run", "lagoon", "digits.tflite", "other.tflite", "--dataset", "few.npz"),
    ],
    "output_into_missing_folder": [*NATIVE, "--output", "absent/out.npy"],
    "output_onto_folder": [*NATIVE, "--output", "foreign"],
    "two_models_of_one_name": [*BUILD, "digits.tflite", "-o", "out"],
    "two_models_constants": [
        *BUILD,
        "other.tflite",
        "-o",
        "out",
        "--set",
        "pools.weights.size=5 KiB",
    ],
    "two_models_one_place": [*BUILD, "other.tflite", "-o", "out", "--place", "add_3=cpu"],
    "two_models_one_input": ["run", *BUILD[1:], "other.tflite", "--input", "shape.npy"],
    "two_models_one_output": ["run", *BUILD[1:], "other.tflite", "--output", "out.npy"],
    "two_models_uneven_samples": [
        *("run", *BUILD[1:], "other.tflite"),
        *("--input", "one.npy", "--input", "two.npy"),
    ],
    "two_models_unknown_network": [*BUILD, "other.tflite", "-o", "out", "--free", "otter:image"],
    "two_models_unclear_buffer": ["explain", *BUILD[1:], "other.tflite", "--buffer", "image"],
    "two_models_mixed_inputs": [
        *(*NATIVE[:3], "other.tflite", *NATIVE[3:]),
        *("--input", "digits=one.npy", "--input", "two.npy"),
    ],
    "one_model_two_inputs": [*NATIVE, "--input", "one.npy", "--input", "two.npy"],
    "waves_of_native": [*NATIVE, "--waves", "out.vcd"],
    "waves_of_qemu": [*RUN, "--cpu", "qemu", "--waves", "out.vcd"],
    "waves_of_iss": [*RUN, "--cpu", "iss", "--waves", "out.vcd"],
    "coverage_of_iss": [*RUN, "--cpu", "iss", "--coverage", "reached"],
    "coverage_in_another_folder": [*RUN, "--coverage", "report"],
    "coverage_onto_file": [*RUN, "--coverage", "chip.yaml"],
    "trace_of_native": [*NATIVE, "--trace", "out.pftrace"],
    "trace_into_missing_folder": ["estimate", *RUN[1:], "--trace", "absent/out.pftrace"],
    "trace_onto_folder": [*RUN, "--cpu", "iss", "--trace", "folder.vcd"],
    "simulate_native": ["simulate", "foreign", "--cpu", "native"],
    "estimate_iss_without_core": ["estimate", *RUN[1:], *COUNTED, *CORTEX_M55],
    "estimate_iss_without_timing": [
        *("estimate", *RUN[1:], *COUNTED),
        *("--set", "devices.cpu.core=riscv", "--set", "devices.cpu.isa=rv64imac"),
    ],
    "estimate_iss_broke_off": ["estimate", "halts.yaml", "digits.tflite", *COUNTED],
    "iss_core": [*RUN, "--cpu", "iss", "--set", "devices.cpu.isa=rv32imc_zba_zbb_zbs", *IBEX],
    "waves_extension": [*RUN, "--waves", "out.ghw"],
    "waves_into_missing_folder": [*RUN, "--waves", "absent/out.vcd"],
    "waves_onto_folder": [*RUN, "--waves", "folder.vcd"],
    "waves_view_onto_folder": [*RUN, "--waves", "view.vcd"],
    "waves_option_alone": [*RUN, "--waves-operator", "conv_2d_0"],
    "waves_operator_unknown": [*RUN, "--waves", "out.vcd", "--waves-operator", "conv_9"],
    "waves_operator_and_cycles": [
        *(*RUN, "--waves", "out.vcd"),
        *("--waves-operator", "conv_2d_0", "--waves-from", "7"),
    ],
    "waves_backwards": [*RUN, "--waves", "out.vcd", "--waves-from", "7", "--waves-to", "5"],
    "waves_limit": [*RUN, "--waves", "out.vcd", "--waves-limit", "many"],
    "simulate_waves_extension": ["simulate", "foreign", "--waves", "out.ghw"],
    "simulate_missing": ["simulate", "absent"],
    "simulate_foreign": ["simulate", "foreign"],
    "simulate_output": ["simulate", "foreign", "--output", "absent/out.npy"],
    "bench_of_iss": ["simulate", "foreign", "--bench", "my_bench.py", "--cpu", "iss"],
    "bench_and_trace": ["simulate", "foreign", "--bench", "my_bench.py", "--trace", "a.pftrace"],
    "bench_without_bench": ["simulate", "foreign", "--no-firmware"],
    "bench_alone_modelled": [
        *("simulate", "foreign", "--bench", "my_bench.py", "--no-firmware"),
        *("--accelerator", "model"),
    ],
    "bench_of_a_chip_missing": ["check", "lagoon", "--bench", "other_bench.py"],
    "bench_option_alone": ["simulate", "foreign", "--junit", "results.xml"],
}

BENCH = "import cocotb\n\n\n@cocotb.test()\nasync def right(dut):\n    pass\n"
BENCHES: dict[str, tuple[str, list[str]]] = {
    "bench_missing": (BENCH, ["--bench", "other_bench"]),
    "bench_not_imported": (f"{BENCH}\nimport not_there\n", ["--bench", "my_bench.py"]),
    "bench_syntax": ("async def right(dut)\n", ["--bench", "my_bench"]),
    "bench_exits": ("import os\nos._exit(0)\n", ["--bench", "my_bench.py"]),
    "bench_without_tests": ("async def right(dut):\n    pass\n", ["--bench", "my_bench.py"]),
    "bench_unknown_test": (BENCH, ["--bench", "my_bench.py:rigth"]),
    "bench_waves_of_two": (
        f"{BENCH}\n\n@cocotb.test()\nasync def other(dut):\n    pass\n",
        ["--bench", "my_bench.py", "--waves", "out.vcd"],
    ),
    "bench_output_of_others": (BENCH, ["--bench", "my_bench.py", "--bench-output", "out"]),
}
"""A bench, and how it is asked for."""

CHANGES: dict[str, Callable[[Path], object]] = {
    "build_no_marker": lambda folder: (folder / "build.json").unlink(),
    "build_marker_damaged": lambda folder: (folder / "build.json").write_text('{"model": '),
    "build_marker_no_object": lambda folder: (folder / "build.json").write_text("[1]"),
    "build_marker_models": lambda folder: edit(
        folder / "build.json", '"model": "digits"', '"models": "digits"'
    ),
    "build_marker_edited": lambda folder: edit(folder / "build.json", "true", "false"),
    "build_chip_edited": lambda folder: edit(
        folder / "resolved.json", '"size": 262144', '"size": 0'
    ),
    "build_model_missing": lambda folder: (folder / "digits.tflite").unlink(),
    "build_firmware_missing": lambda folder: (folder / "firmware.elf").unlink(),
    "build_plan_edited": lambda folder: edit(
        folder / "plan.json", '"offset_bytes": 0', '"offset_bytes": 16'
    ),
    "build_no_checksums": lambda folder: (folder / "checksums.txt").unlink(),
}


def edit(path: Path, old: str, new: str) -> None:
    """Replace the first `old` in a file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def fill(folder: Path) -> None:
    """Put what the cases name into `folder`."""
    shutil.copyfile(DIGITS, folder / "digits.tflite")
    shutil.copyfile(DIGITS, folder / "other.tflite")
    np.save(folder / "one.npy", np.zeros((1, 8, 8, 1), np.int8))
    np.save(folder / "two.npy", np.zeros((2, 8, 8, 1), np.int8))
    (folder / "foreign").mkdir()
    (folder / "foreign" / "thesis.txt").write_text("precious")
    (folder / "broken").mkdir()
    (folder / "broken" / "build.json").write_text("{}")
    (folder / "other.json").write_text('{"cycles": 3}')
    (folder / "cut.json").write_text('{\n  "soc": "lagoon",\n  "model": "dig')
    failure = {"code": "E141", "message": "'x.elf' is no image", "at": None, "other": None}
    failed = {"faults": [{**failure, "remedy": None, "tried": None}]}
    (folder / "failed.json").write_text(json.dumps(failed))
    estimate = {"soc": "lagoon", "model": "digits", "cycles": {"total": 3}, "notes": []}
    estimate |= {"roofs": {}, "energy": {}, "area": {}}
    (folder / "estimate.json").write_text(json.dumps(estimate))
    (folder / "old.html").write_text('<script type="application/json" id="documents">{}</script>')
    (folder / "pipe").symlink_to("/dev/null")
    (folder / "folder.vcd").mkdir()
    (folder / "report").mkdir()
    (folder / "report" / "coverage.json").write_text('{"files": []}')
    (folder / "view.gtkw").mkdir()
    chip = (ROOT / "socs" / "lagoon.yaml").read_text()
    (folder / "chip.yaml").write_text(chip)
    core = (ROOT / "socs" / "cores" / "picorv32.yaml").read_text()
    core = core.replace("core: picorv32", "core: halts").replace("picorv32.S", "./halts.S")
    (folder / "halts_part.yaml").write_text(core.split("\nrtl:")[0])
    startup = (STARTUP / "picorv32.S").read_text()
    (folder / "halts.S").write_text(startup.replace("tail ", "ebreak; tail "))
    (folder / "halts.yaml").write_text(chip.replace("core: picorv32", "core: ./halts_part.yaml"))
    board = (ROOT / "examples" / "08_qemu_machines" / "mps2_an385.yaml").read_text()
    alone = board.replace("qemu: {machine: mps2-an385}\n", "")
    (folder / "alone.yaml").write_text(alone)
    core = (ROOT / "socs" / "cores" / "cortex_m3.yaml").read_text()
    (folder / "ours_part.yaml").write_text(core.replace("core: cortex_m3", "core: ours"))
    (folder / "ours.yaml").write_text(alone.replace("core: cortex_m3", "core: ./ours_part.yaml"))
    fill_accelerators(folder, chip)
    shutil.copyfile(ROOT / "tests" / "data" / "rfc_pools.yaml", folder / "rfc.yaml")
    (folder / "stack.build").write_text("scopes:\n  softmax_9_out: global.stack\n")
    region = "{from: add_3, to: conv_2d_0, scope: global.sram}"
    (folder / "region.build").write_text(f"set_scope: [{region}]\n")
    twin = (ROOT / "socs" / "twin.yaml").read_text()
    (folder / "mute.yaml").write_text(twin.replace("    mailbox: 0x4000_3000\n    irq: 6\n", ""))
    (folder / "damaged.npy").write_bytes(b"\x93NUMPY\x01\x00\x10\x00{'descr': '|i1'")
    np.save(folder / "shape.npy", np.zeros((1, 9, 8, 1), np.int8))
    np.save(folder / "type.npy", np.zeros((1, 8, 8, 1), np.float32))
    np.savez(folder / "other.npz", x=np.zeros((1, 8, 8, 1), np.int8))
    images = np.zeros((3, 8, 8, 1), np.int8)
    for name, labels in (("labels", [1, 10, 2]), ("real", [0.5, 1, 2]), ("few", [1, 2])):
        np.savez(folder / f"{name}.npz", x=images, labels=np.array(labels))
    np.savez(folder / "odd.npz", x=np.zeros((3, 9, 8, 1), np.int8), labels=np.arange(3))
    shutil.make_archive(str(folder / "text"), "zip", folder / "foreign")
    (folder / "text.zip").rename(folder / "text.npz")


CORE = (
    "core: mute, version: 1, isas: [rv32imc], interrupts: {first: 3, last: 31, bus_error: 2},"
    " startup: picorv32.S, asleep: [0x13], rtl: {module: mute, sources: [./mute.sv]}"
)
IDEA = "accelerator: idea\nversion: 1\noperators:\n  CONV_2D: {cost: 100 + macs // 64}\n"
BY_ZERO = IDEA.replace("64", "pad_top")


def fill_accelerators(folder: Path, chip: str) -> None:
    """Write a chip for each accelerator that cannot be used, and the accelerator beside it."""
    for name, text in (("idea", IDEA), ("by_zero", BY_ZERO)):
        (folder / f"{name}_part.yaml").write_text(text)
        named = re.sub(r"    params: .*\n", "", chip).replace(
            "accelerator: reef", f"accelerator: ./{name}_part.yaml"
        )
        (folder / f"{name}.yaml").write_text(named)
    (folder / "core_braces.yaml").write_text(f"{{{CORE}}}\n")
    strait = (ROOT / "tests" / "data" / "strait.yaml").read_text()
    (folder / "strait.yaml").write_text(strait.replace("../../socs/lagoon.yaml", "lagoon"))
    braces = "{accelerator: braces, version: 1, operators: {ADD: {cost: 10}}}\n"
    (folder / "braces.yaml").write_text(braces)
    reef = (ROOT / "hw_sim" / "atoll_sim" / "engines" / "reef" / "reef.yaml").read_text()
    emitter, model = (
        "atoll_sim.engines.reef.emitter:ReefEmitter",
        "atoll_sim.engines.reef.model:ReefModel",
    )
    edits = {
        "emitter": {"reef.emitter:": "reef.absent_emitter:"},
        "no_class": {emitter: "atoll_sim.engines.reef.cycles:effort_of"},
        "raises": {"  weight_rows: {": "  rows: {"},
        "identity": {"    ID: 0x00\n": ""},
        "model": {model: emitter},
        "elsewhere": {"[0x04, 0x08, 0x0C, 0x10]": "[0x14]"},
        "short": {"[0x04, 0x08, 0x0C, 0x10]": "[0x04, 0x3E]"},
        "own": {"  CONV_2D:\n": "  CONV_2D:\n    reference: math:floor\n"},
        "source": {"reef_pkg.sv,": "reef_package.sv, ./mine.sv,"},
        "listed": {"reef_pkg.sv,": "reef_pkg.sv, ./lists/mine.f,"},
        "several": {"reef_pkg.sv,": "./mine.sv,", emitter: "json:loads", model: "json:dumps"},
    }
    (folder / "lists").mkdir()
    (folder / "lists" / "mine.f").write_text("// of the engine\n+incdir+headers\n")
    for name, replaced in edits.items():
        text = reef
        for old, new in replaced.items():
            assert old in text
            text = text.replace(old, new, 1)
        (folder / f"{name}_part.yaml").write_text(text)
        named = chip.replace("accelerator: reef", f"accelerator: ./{name}_part.yaml")
        (folder / f"{name}.yaml").write_text(named)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=MARKS.get(name, ())) for name in CASES],
)
def test_message(
    name: str,
    golden: Callable[[Path, str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    fill(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    golden(MESSAGES / f"{name}.txt", refusal(CASES[name], capsys))
    assert sorted(tmp_path.rglob("*")) == before


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build folder, made once; the tests change copies of it."""
    folder = tmp_path_factory.mktemp("built")
    shutil.copyfile(DIGITS, folder / "digits.tflite")
    assert main(["build", "lagoon", str(folder / "digits.tflite"), "-o", str(folder / "out")]) == 0
    return folder / "out"


@pytest.mark.parametrize("name", CHANGES)
def test_changed_build_folder(
    name: str,
    built: Path,
    golden: Callable[[Path, str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(built, tmp_path / "out")
    CHANGES[name](tmp_path / "out")
    golden(MESSAGES / f"{name}.txt", refusal(["simulate", "out"], capsys))


@pytest.mark.parametrize("name", BENCHES)
def test_a_bench_that_does_not_run(
    name: str,
    built: Path,
    golden: Callable[[Path, str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(built, tmp_path / "out")
    text, options = BENCHES[name]
    (tmp_path / "my_bench.py").write_text(text)
    golden(MESSAGES / f"{name}.txt", refusal(["simulate", "out", *options], capsys))


def test_a_build_folder_of_another_version(
    built: Path,
    golden: Callable[[Path, str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(built, tmp_path / "out")
    monkeypatch.setattr("atoll.resolve.export.FORMAT", 2)
    golden(MESSAGES / "build_of_another_version.txt", refusal(["simulate", "out"], capsys))


def test_there_is_a_case_for_every_golden_file() -> None:
    names = {*CASES, *CHANGES, *BENCHES, "build_of_another_version"}
    assert names == {path.stem for path in MESSAGES.glob("*.txt")}


def test_the_unchanged_build_folder_is_fine(built: Path) -> None:
    marker = json.loads((built / "build.json").read_text())
    assert (marker["soc"], marker["model"]) == ("lagoon", "digits")
