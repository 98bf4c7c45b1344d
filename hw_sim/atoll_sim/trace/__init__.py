# SPDX-License-Identifier: Apache-2.0
"""What goes into a run and what comes out of it, as data and as files."""
