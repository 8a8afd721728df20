"""Loads the digits of examples/data: 1,438 images to learn from, 359 held out. An image has 8 x 8 pixels of 0 to 16,
and a label.
"""

from pathlib import Path

import torch

FILE = Path(__file__).resolve().parents[3] / "examples" / "data" / "digits.csv"
LEARNED = 1438


def load(device):
    """Returns ((images, labels) to learn from, (images, labels) held out)."""
    rows = [[float(word) for word in line.split(",")] for line in FILE.read_text(encoding="utf-8").splitlines()
            if line and line[0].isdigit()]
    table = torch.tensor(rows, device=device)
    images, labels = table[:, :64].view(-1, 1, 8, 8) / 16, table[:, 64].long()
    return (images[:LEARNED], labels[:LEARNED]), (images[LEARNED:], labels[LEARNED:])
