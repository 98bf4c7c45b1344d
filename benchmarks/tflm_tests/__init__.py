# SPDX-License-Identifier: Apache-2.0
"""Atoll held against the kernel tests of TensorFlow Lite for Microcontrollers."""
