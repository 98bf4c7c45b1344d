# SPDX-License-Identifier: Apache-2.0
"""The front end of TFLite files; docs/operators.md says what they may hold."""
