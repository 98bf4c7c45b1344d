/* SPDX-License-Identifier: Apache-2.0 */
// What each model includes of Verilator, for `precompiled.py`.
#include "verilated.h"
#include "verilated_dpi.h"
#include "verilated_vpi.h"
