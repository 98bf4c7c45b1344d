# SPDX-License-Identifier: Apache-2.0
"""What operators, copies and networks take, in cycles of the host.

`data` has the numbers, all else the formulas. `cores` and `engines` have an interface for each kind
of device, and `operators` asks the right one; `copies` adds what moves tensors, `lists` what
engines save that go on by themselves, `pieces` what cutting costs. `network` asks for all operators
of a placed graph, and `program` for those of a planned one, with their `traffic` and `timeline`, in
which devices slow each other as `contention` says; `estimate` adds what a run takes `around`.
Placement, tiling, streaming, the schedule, estimates and the progress of a run ask nothing else.
"""
