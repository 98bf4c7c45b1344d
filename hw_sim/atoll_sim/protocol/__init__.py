# SPDX-License-Identifier: Apache-2.0
"""The protocol's numbers and records, and the headers for C++ and RTL that are made from them."""
