# SPDX-License-Identifier: Apache-2.0
"""Two networks in PyTorch, whose exporter and channels-first images many ONNX files come from."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.trained import CALIBRATING, SEED, TESTED, samples
from benchmarks.trained.quantising import write_quantised
from benchmarks.trained.samples import Samples

BATCH, EPOCHS, COUNT = 32, 6, 1000


class Residual(nn.Module):  # type: ignore[misc]
    """Convolutions with batch normalisation and a shortcut, then means and a dense layer."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = _block(3, 16, stride=2)
        self.depth = _block(16, 16, groups=16)
        self.point = _block(16, 16, kernel=1)
        self.narrow = _block(16, 32, stride=2)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(32, 4)

    def forward(self, x: Any) -> Any:
        """Return scores [N, 4] of images [N, 3, H, W]."""
        x = self.stem(x)
        x = x + self.point(self.depth(x))
        return self.head(self.pool(self.narrow(x)).flatten(1))


class Encoder(nn.Module):  # type: ignore[misc]
    """Two layers of PyTorch's own transformer encoder, with learnt positions."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(10, 32)
        self.positions = nn.Parameter(torch.randn(1, 40, 32) * 0.02)
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(32, 5)

    def forward(self, x: Any) -> Any:
        """Return scores [N, 5] of spectra [N, 40, 10]."""
        return self.head(self.body(self.embed(x) + self.positions).mean(dim=1))


def _block(ins: int, outs: int, *, kernel: int = 3, stride: int = 1, groups: int = 1) -> Any:
    padding = kernel // 2
    convolution = nn.Conv2d(ins, outs, kernel, stride, padding, groups=groups, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outs), nn.ReLU6())


def _images(count: int, seed: int) -> Samples:
    drawn = samples.shapes(count, seed, size=32, channels=3)
    return Samples(np.ascontiguousarray(drawn.x.transpose(0, 3, 1, 2)), drawn.y)


TASKS: dict[str, tuple[Callable[[], Any], Callable[[int, int], Samples]]] = {
    "torch_residual": (Residual, _images),
    "torch_transformer": (Encoder, partial(samples.words, frames=40, bands=10)),
}


def write(name: str, folder: Path) -> None:
    """Train a network of `TASKS` and write its files."""
    make, data = TASKS[name]
    training, tested = data(COUNT, SEED), data(TESTED, SEED + 1)
    model = _train(make, training)
    real = folder / f"{name}.real"
    given = torch.from_numpy(tested.x[:1])
    torch.onnx.export(model, (given,), real, input_names=["x"], external_data=False)
    write_quantised(real, folder, name, training.x[:CALIBRATING], tested)


def _train(make: Callable[[], Any], data: Samples) -> Any:
    torch.manual_seed(SEED)
    model = make()
    x, y = torch.from_numpy(data.x), torch.from_numpy(data.y)
    optimiser = torch.optim.AdamW(model.parameters(), 2e-3)
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(x)).split(BATCH):
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(x[chosen]), y[chosen]).backward()
            optimiser.step()
    return model.eval()
