# SPDX-License-Identifier: Apache-2.0
"""What operators, copies and networks take, in cycles of the host.

`measured` holds the data, `cores` and `engines` an interface for each kind of device, `operators`
asks the right one, `copies` adds what moves tensors, `lists` what engines save that go on by
themselves, and `network` sums a whole placed graph. Placement, tiling, streaming, the schedule and
estimates ask nothing else.
"""
