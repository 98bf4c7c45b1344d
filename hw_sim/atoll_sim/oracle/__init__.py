# SPDX-License-Identifier: Apache-2.0
"""Another implementation of a model file, as a witness of the import."""
