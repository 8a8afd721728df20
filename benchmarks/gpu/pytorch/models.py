"""Defines the networks in plain PyTorch: a bare machine may have no torchvision and no transformers."""

import torch
from torch import nn
from torch.nn import functional


class Bottleneck(nn.Module):

    def __init__(self, inside, planes, stride):
        super().__init__()
        outside = planes * 4
        self.path = nn.Sequential(
            nn.Conv2d(inside, planes, 1, bias=False), nn.BatchNorm2d(planes), nn.ReLU(inplace=True),
            nn.Conv2d(planes, planes, 3, stride, 1, bias=False), nn.BatchNorm2d(planes), nn.ReLU(inplace=True),
            nn.Conv2d(planes, outside, 1, bias=False), nn.BatchNorm2d(outside))
        self.shortcut = nn.Identity() if stride == 1 and inside == outside else nn.Sequential(
            nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x):
        return functional.relu(self.path(x) + self.shortcut(x))


def resnet50(classes=1000):
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inside = 64
    for planes, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            layers.append(Bottleneck(inside, planes, stride if block == 0 else 1))
            inside = planes * 4
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, classes))


def vgg16(classes=1000):
    layers, inside = [], 3
    for width in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
        if width == 0:
            layers.append(nn.MaxPool2d(2, 2))
            continue
        layers += [nn.Conv2d(inside, width, 3, padding=1), nn.ReLU(inplace=True)]
        inside = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(7), nn.Flatten(),
                         nn.Linear(512 * 49, 4096), nn.ReLU(inplace=True), nn.Dropout(),
                         nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(4096, classes))


class Layer(nn.Module):

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.think = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.attend(self.before(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.project(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.think(self.between(x))


class Gpt2(nn.Module):
    """Implements GPT-2 small."""

    def __init__(self, words=50257, width=768, heads=12, layers=12, length=512):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.layers = nn.Sequential(*(Layer(width, heads) for _ in range(layers)))
        self.after, self.say = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        self.say.weight = self.words.weight

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.say(self.after(self.layers(self.words(tokens) + self.places(places)))).transpose(1, 2)


def small_cnn(classes=10):
    """Returns a network for 8 x 8 digits. It has no max pooling, whose gradient is not deterministic on a GPU."""
    return nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, 2, padding=1), nn.ReLU(),
                         nn.Flatten(), nn.Linear(64 * 16, 128), nn.ReLU(), nn.Linear(128, classes))


def make(name):
    return {"resnet50": resnet50, "vgg16": vgg16, "gpt2": Gpt2, "small": small_cnn}[name]()


def batch_for(name, size, device):
    """Returns made-up inputs and targets. A job makes them once."""
    if name == "gpt2":
        tokens = torch.randint(0, 50257, (size, 512), device=device)
        return tokens, tokens.roll(-1, 1)
    if name == "small":
        return torch.randn(size, 1, 8, 8, device=device), torch.randint(0, 10, (size,), device=device)
    return torch.randn(size, 3, 224, 224, device=device), torch.randint(0, 1000, (size,), device=device)
