"""A network of the MobileNetV3-small kind for 28 x 28 pixels: HardSwish, squeeze and excitation, small widths."""

from torch import nn
import torch
import torch.nn.functional as F


def conv_bn(cin, cout, kernel=1, stride=1, groups=1):
    return [nn.Conv2d(cin, cout, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(cout)]


class SqueezeExcitation(nn.Module):
    """Scales each channel by what the means of all channels say."""

    def __init__(self, channels):
        super().__init__()
        self.reduce = nn.Conv2d(channels, max(8, channels // 4), 1)
        self.expand = nn.Conv2d(max(8, channels // 4), channels, 1)

    def forward(self, x):
        scale = F.adaptive_avg_pool2d(x, 1)
        return x * F.hardsigmoid(self.expand(F.relu(self.reduce(scale))))


class Bottleneck(nn.Module):
    """Expands, filters depthwise, excites where asked, projects; adds x where the shapes are equal."""

    def __init__(self, cin, expanded, cout, kernel, stride, excite, act):
        super().__init__()
        self.adds = stride == 1 and cin == cout
        self.layers = nn.Sequential(
            *conv_bn(cin, expanded), act(),
            *conv_bn(expanded, expanded, kernel, stride, groups=expanded), act(),
            SqueezeExcitation(expanded) if excite else nn.Identity(),
            *conv_bn(expanded, cout))

    def forward(self, x):
        y = self.layers(x)
        return x + y if self.adds else y


class MobileNetV3(nn.Module):
    """About 160,000 parameters and 3 million multiply-accumulates."""

    def __init__(self):
        super().__init__()
        relu, swish = nn.ReLU, nn.Hardswish
        self.features = nn.Sequential(
            *conv_bn(1, 16, 3, 2), swish(),
            Bottleneck(16, 16, 16, 3, 1, True, relu),
            Bottleneck(16, 64, 24, 3, 2, False, relu),
            Bottleneck(24, 72, 24, 3, 1, False, relu),
            Bottleneck(24, 96, 32, 5, 1, True, swish),
            Bottleneck(32, 128, 32, 5, 1, True, swish),
            Bottleneck(32, 128, 48, 5, 2, True, swish),
            Bottleneck(48, 192, 48, 5, 1, True, swish),
            *conv_bn(48, 192), swish())
        self.classifier = nn.Sequential(nn.Linear(192, 128), swish(), nn.Linear(128, 10))

    def forward(self, x):
        x = F.adaptive_avg_pool2d(self.features(x), 1)
        return self.classifier(torch.flatten(x, 1))
