# SPDX-License-Identifier: Apache-2.0
"""`atoll lsp`: what an editor shows of a description while it is written."""
