"""Atoll held against the kernel tests of TensorFlow Lite for Microcontrollers."""
