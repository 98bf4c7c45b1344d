# SPDX-License-Identifier: Apache-2.0
"""The network itself made smaller, before devices are chosen: the same outputs, fewer operators."""
