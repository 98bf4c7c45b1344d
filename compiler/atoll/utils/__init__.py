# SPDX-License-Identifier: Apache-2.0
"""The machine that Atoll runs on: files, temporary folders, the cache, programs, threads."""
