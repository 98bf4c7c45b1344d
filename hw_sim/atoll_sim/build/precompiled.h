/* SPDX-License-Identifier: Apache-2.0 */
// What each model includes of Verilator and of the C++ library, for `precompiled.py`.
#include <chrono>
#include <fstream>

#include "verilated.h"
#include "verilated_dpi.h"
#include "verilated_vpi.h"
