"""Gradients made up for pictures: always the same ones, of no model and no run."""

from __future__ import annotations

from fractions import Fraction
from statistics import NormalDist

import numpy as np

from ..arguments import exact, whole
from ..arrays import Floats


def synthetic_grads(*, typical: object, spread: object = 4, count: int = 2000) -> Floats:
    """Return ``count`` magnitudes around ``typical`` whose powers of two follow a normal curve.

    They are the evenly spaced quantiles of that curve, in rising order: half lie below ``typical``, two in
    three within a factor of 2**``spread`` of it. No chance is involved, and no measurement.

    >>> grads = synthetic_grads(typical=1e-6)
    >>> grads.size, int((grads < 1e-6).sum()), int(((grads > 1e-6 / 16) & (grads < 16e-6)).sum())
    (2000, 1000, 1366)
    """
    centre = float(exact("typical", typical, minimum=Fraction(1, 10**30), maximum=10**30))
    width = float(exact("spread", spread, minimum=0, maximum=32))
    number = whole("count", count, minimum=1, maximum=100_000)
    places = (NormalDist().inv_cdf((2 * index + 1) / (2 * number)) for index in range(number))
    return np.array([centre * 2.0 ** (width * place) for place in places])
