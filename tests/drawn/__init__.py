# SPDX-License-Identifier: Apache-2.0
"""Networks that are drawn from TFLite's schema, whatever Atoll's table of operators says.

The second generator beside tests/differential, written without looking at it; both share nothing.
"""
