"""The training of senses as compiled code: one kernel for all variants, faithful and shared negatives alike.

Symbols as in the paper: s_k are the sense vectors of the centre word, c the context vector of another word, c̄ the mean
of the context vectors in the window, γ the attention, Q_k = Σ log σ(±c·s_k) over the window's words and its negatives.
The bound of a window is Σ_k γ_k Q_k (eq. 14-16). With γ = softmax((c̄·s + β g) / τ) its gradients are

    s_k: γ_k Σ (y - σ(c·s_k)) c  +  γ_k (Q_k - Q̄) c̄ / τ        Q̄ = Σ_k γ_k Q_k
    c:   Σ_k γ_k (y - σ(c·s_k)) s_k
    each of the window's m words, through c̄:  Σ_k γ_k (Q_k - Q̄) s_k / (τ m)

Every window is learnt by itself, or a batch of windows at once (:func:`learn_batch`): then all gradients are taken at
the vectors before the batch, and their sum or their mean over its windows is one step.

All variants share this code: SASI is τ = 1 and β = 0 (eq. 8), GASI β = 1 (eq. 10), GASI-β anything else (eq. 11-12),
skip-gram one sense. Importing this module imports numba: only a training does so.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.extending import intrinsic

# sums may be reordered, which lets the compiler use wide registers; NaN and infinity keep their meaning
_HOW: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
}
_GOLDEN, _MIX_1, _MIX_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32), np.uint64(11)

#: the table of log σ and σ: cells over -REACH .. REACH, read with linear interpolation (error below 8e-6)
CELLS, REACH = 1024, 8.0
#: what is summed over a chunk, in this order
STATS = ("centres", "pairs", "loss", "entropy", "entropy_without_noise", "signal", "signal_squared", "signals")
_AHEAD, _LINE = 2, 64


@intrinsic
def _prefetch(typing: Any, array: Any, row: Any, column: Any) -> Any:
    """Ask for the memory of ``array[row, column]`` before it is needed."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        made = context.make_array(kind)(context, builder, arguments[0])
        place = cgutils.get_item_pointer(context, builder, kind, made, [arguments[1], arguments[2]])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        known = cgutils.get_or_insert_function(builder.module, function, "llvm.prefetch.p0")
        builder.call(known, [builder.bitcast(place, byte), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), code


@njit(**_HOW)
def next_bits(state: Any) -> Any:
    """Return 64 random bits and move the state on (splitmix64)."""
    state[0] += _GOLDEN
    bits = state[0]
    bits = (bits ^ (bits >> _S30)) * _MIX_1
    bits = (bits ^ (bits >> _S27)) * _MIX_2
    return bits ^ (bits >> _S31)


@njit(**_HOW)
def _uniform(state: Any) -> Any:
    """Return a number between 0 and 1, neither of them."""
    # the largest of these numbers is rounded up to 1, of which a Gumbel is infinite
    return min((np.float64(next_bits(state) >> _S11) + 0.5) * 2.0**-53, 1.0 - 2.0**-53)


@njit(**_HOW)
def _gumbel(state: Any) -> Any:
    return -math.log(-math.log(_uniform(state)))


@njit(**_HOW)
def _log_sigma(x: Any, table: Any) -> Any:
    """Return log σ(x) and σ(x)."""
    # so put, what is no number is not looked up
    if not (-REACH < x < REACH):
        small = math.exp(-abs(x))
        return min(x, 0.0) - math.log1p(small), (1.0 if x > 0 else small) / (1.0 + small)
    place = (x + REACH) * (CELLS / (2 * REACH))
    cell = int(place)
    part = place - cell
    log_sigma = table[0, cell] + part * (table[0, cell + 1] - table[0, cell])
    return log_sigma, table[1, cell] + part * (table[1, cell + 1] - table[1, cell])


@njit(**_HOW)
def _dot(left: Any, right: Any) -> Any:
    total = left[0] * right[0]
    for i in range(1, len(left)):
        total += left[i] * right[i]
    return total


@njit(**_HOW)
def _entropy(logits: Any, mask: Any, scale: Any, out: Any) -> Any:
    """Write softmax(scale · logits) over the senses that are there to *out*; return its entropy in nats."""
    most = -np.inf
    for k in range(len(logits)):
        if mask[k]:
            most = max(most, scale * logits[k])
    total = 0.0
    for k in range(len(logits)):
        out[k] = math.exp(scale * logits[k] - most) if mask[k] else 0.0
        total += out[k]
    entropy = 0.0
    for k in range(len(logits)):
        out[k] /= total
        if out[k] > 0:
            entropy -= out[k] * math.log(out[k])
    return entropy


@njit(**_HOW)
def _pair(senses: Any, row: Any, label: Any, weight: Any, rate: Any, table: Any, work: Any, q: Any, delta: Any) -> None:
    """Learn one context word or one negative: its row at once, the senses' share into ``work[2:]``."""
    gamma = work[0]
    for i in range(len(row)):
        delta[i] = 0.0
    for k in range(len(senses)):
        if gamma[k] == 0.0:
            continue
        sense, gradient = senses[k], work[k + 2]
        x = _dot(sense, row)
        log_sigma, sigma = _log_sigma(x, table)
        q[k] += weight * (log_sigma if label else log_sigma - x)
        step = row.dtype.type(rate * weight * gamma[k] * ((1.0 if label else 0.0) - sigma))
        for i in range(len(row)):
            gradient[i] += step * row[i]
            delta[i] += step * sense[i]
    for i in range(len(row)):
        row[i] += delta[i]


@njit(**_HOW)
def _step(x: Any, k: Any, label: Any, weight: Any, rate: Any, table: Any, work: Any, q: Any) -> Any:
    """Add log σ(±x) to the sum of sense *k*, and return the step of its pair: rate · weight · γ_k · (y - σ(x))."""
    log_sigma, sigma = _log_sigma(x, table)
    # log σ(-x) = log σ(x) - x
    q[k] += weight * (log_sigma if label else log_sigma - x)
    return work.dtype.type(rate * weight * work[0, k] * ((1.0 if label else 0.0) - sigma))


@njit(**_HOW)
def _pair_of_three(senses: Any, row: Any, label: Any, weight: Any, rate: Any, table: Any, work: Any, q: Any) -> None:
    """As :func:`_pair`, for three senses: the row is read and written once."""
    s0, s1, s2 = senses[0], senses[1], senses[2]
    g0, g1, g2 = work[2], work[3], work[4]
    # sums of the rows' own width: a plain 0 would make them, and all products, twice as wide
    x0 = x1 = x2 = row.dtype.type(0.0)
    for i in range(len(row)):
        c = row[i]
        x0 += s0[i] * c
        x1 += s1[i] * c
        x2 += s2[i] * c
    a0 = _step(x0, 0, label, weight, rate, table, work, q)
    a1 = _step(x1, 1, label, weight, rate, table, work, q)
    a2 = _step(x2, 2, label, weight, rate, table, work, q)
    for i in range(len(row)):
        c = row[i]
        g0[i] += a0 * c
        g1[i] += a1 * c
        g2[i] += a2 * c
        row[i] = c + a0 * s0[i] + a1 * s1[i] + a2 * s2[i]


@njit(**_HOW)
def _two_pairs_of_three(
    senses: Any, rows: Any, labels: Any, weights: Any, rate: Any, table: Any, work: Any, q: Any
) -> None:
    """As :func:`_pair_of_three`, for two different rows: the senses and their gradients are read and written once."""
    s0, s1, s2 = senses[0], senses[1], senses[2]
    g0, g1, g2 = work[2], work[3], work[4]
    first, second = rows
    x0 = x1 = x2 = z0 = z1 = z2 = first.dtype.type(0.0)
    for i in range(len(first)):
        c, e = first[i], second[i]
        x0 += s0[i] * c
        x1 += s1[i] * c
        x2 += s2[i] * c
        z0 += s0[i] * e
        z1 += s1[i] * e
        z2 += s2[i] * e
    a0 = _step(x0, 0, labels[0], weights[0], rate, table, work, q)
    a1 = _step(x1, 1, labels[0], weights[0], rate, table, work, q)
    a2 = _step(x2, 2, labels[0], weights[0], rate, table, work, q)
    b0 = _step(z0, 0, labels[1], weights[1], rate, table, work, q)
    b1 = _step(z1, 1, labels[1], weights[1], rate, table, work, q)
    b2 = _step(z2, 2, labels[1], weights[1], rate, table, work, q)
    for i in range(len(first)):
        c, e = first[i], second[i]
        g0[i] += a0 * c + b0 * e
        g1[i] += a1 * c + b1 * e
        g2[i] += a2 * c + b2 * e
        first[i] = c + a0 * s0[i] + a1 * s1[i] + a2 * s2[i]
        second[i] = e + b0 * s0[i] + b1 * s1[i] + b2 * s2[i]


@njit(**_HOW)
def _learn_rows(
    senses: Any, contexts: Any, words: Any, m: Any, n: Any, rate: Any, weight: Any, table: Any, work: Any, q: Any
) -> None:
    """Learn the m words of the window and the n negatives, of three senses two rows at a time."""
    n_senses, width = senses.shape
    j = 0
    while j < m + n:
        for ahead in range(j + _AHEAD, min(j + _AHEAD + 2, m + n)):
            for i in range(0, width, _LINE // contexts.itemsize):
                _prefetch(contexts, words[ahead], i)
        first = 1.0 if j < m else weight
        if n_senses == 3 and j + 1 < m + n and words[j] != words[j + 1]:
            rows, second = (contexts[words[j]], contexts[words[j + 1]]), 1.0 if j + 1 < m else weight
            _two_pairs_of_three(senses, rows, (j < m, j + 1 < m), (first, second), rate, table, work, q)
            j += 2
            continue
        row = contexts[words[j]]
        if n_senses == 3:
            _pair_of_three(senses, row, j < m, first, rate, table, work, q)
        else:
            _pair(senses, row, j < m, first, rate, table, work, q, work[n_senses + 2, :width])
        j += 1


@njit(**_HOW)
def learn_window(
    senses: Any,
    mask: Any,
    contexts: Any,
    words: Any,
    m: Any,
    n: Any,
    noise: Any,
    how: Any,
    table: Any,
    work: Any,
    stats: Any,
) -> None:
    """Learn one window: the centre's *senses* (K, d) and the rows of *contexts* (V, d) change in place.

    ``words[:m]`` are the window's words, ``words[m : m + n]`` the negatives; *how* is (rate, 1/τ, weight of a
    negative); *noise* is β g. *work* (K + 3, d or more) is room: γ and c̄, then a gradient per sense, then a sum.
    """
    rate, sharpness, weight = how[0], how[1], how[2]
    n_senses, width = senses.shape
    mean, gamma = work[1, :width], work[0]
    for k in range(n_senses + 3):
        work[k, :] = 0.0
    for j in range(m):
        row = contexts[words[j]]
        for i in range(width):
            mean[i] += row[i]
    for i in range(width):
        mean[i] /= m
    q, logits, plain = np.zeros(n_senses), np.zeros(n_senses), np.zeros(n_senses)
    for k in range(n_senses):
        if mask[k]:
            logits[k] = _dot(senses[k], mean)
            stats[5] += logits[k]
            stats[6] += logits[k] * logits[k]
            stats[7] += 1.0
    stats[4] += _entropy(logits, mask, 1.0, plain)
    for k in range(n_senses):
        logits[k] += noise[k]
    stats[3] += _entropy(logits, mask, sharpness, plain)
    for k in range(n_senses):
        gamma[k] = plain[k]
    _learn_rows(senses, contexts, words, m, n, rate, weight, table, work, q)
    bound = _attention_gradient(senses, contexts, words, m, rate * sharpness, work, plain, q)
    stats[0] += 1.0
    stats[1] += m
    stats[2] -= bound


@njit(**_HOW)
def _attention_gradient(
    senses: Any, contexts: Any, words: Any, m: Any, rate: Any, work: Any, gamma: Any, q: Any
) -> Any:
    """Learn through γ, add what was gathered to the senses, and return the bound Σ_k γ_k Q_k."""
    n_senses, width = senses.shape
    bound, several = 0.0, False
    for k in range(n_senses):
        bound += gamma[k] * q[k]
        several = several or (0.0 < gamma[k] < 1.0)
    through = work[n_senses + 2]
    through[:] = 0.0
    for k in range(n_senses):
        share = senses.dtype.type(rate * gamma[k] * (q[k] - bound))
        sense, gradient, mean = senses[k], work[k + 2], work[1]
        for i in range(width):
            through[i] += share * sense[i]
            sense[i] += gradient[i] + share * mean[i]
    if several:
        part = senses.dtype.type(1.0 / m)
        for j in range(m):
            row = contexts[words[j]]
            for i in range(width):
                row[i] += part * through[i]
    return bound


@njit(**_HOW)
def keep_some(tokens: Any, keep: Any, state: Any, out: Any) -> Any:
    """Write the tokens that sub-sampling keeps to *out*, line ends with them; return how many."""
    n = 0
    for token in tokens:
        if token < 0 or keep[token] >= 1.0 or _uniform(state) < keep[token]:
            out[n] = token
            n += 1
    return n


@njit(**_HOW)
def window_of(tokens: Any, n: Any, place: Any, reach: Any, words: Any) -> Any:
    """Write the words at most *reach* places from *place* in its line to *words*; return how many."""
    count = 0
    for other in range(place - 1, max(place - reach, 0) - 1, -1):
        if tokens[other] < 0:
            break
        words[count] = tokens[other]
        count += 1
    for other in range(place + 1, min(place + reach + 1, n)):
        if tokens[other] < 0:
            break
        words[count] = tokens[other]
        count += 1
    return count


@njit(**_HOW)
def draw(table: Any, state: Any, out: Any, start: Any, n: Any) -> None:
    """Write *n* negatives to ``out[start:]``, drawn from the table of words; a word of the window may be among them."""
    size = np.uint64(len(table))
    for j in range(start, start + n):
        out[j] = table[np.int64(((next_bits(state) >> _S32) * size) >> _S32)]


@njit(**_HOW)
def _prefetch_next(senses: Any, contexts: Any, kept: Any, n: Any, place: Any, window: Any) -> None:
    """Ask for what the next window reads and this one does not: its centre's senses and its last word."""
    width, step = contexts.shape[1], _LINE // contexts.itemsize
    if place + 1 < n and kept[place + 1] >= 0:
        following = senses[kept[place + 1]]
        for k in range(len(following)):
            for i in range(0, width, step):
                _prefetch(following, k, i)
    last = place + 1 + window
    if last < n and kept[last] >= 0:
        for i in range(0, width, step):
            _prefetch(contexts, kept[last], i)


@njit(**_HOW)
def learn_chunk(
    tokens: Any,
    vectors: Any,
    mask: Any,
    keep: Any,
    negatives: Any,
    numbers: Any,
    rates: Any,
    state: Any,
    table: Any,
    stats: Any,
) -> None:
    """Learn every window of a chunk of tokens, in their order.

    *vectors* are (senses (V, K, d), contexts (V, d)); *numbers* are (window, negatives of a pair, shared negatives of a
    window or 0, windows of a batch or 0, whether a batch's gradients are averaged); *rates* are (at the start, at the
    end, β, 1/τ). *state* is the one random state of the chunk.
    """
    senses, contexts = vectors
    window, per_pair, shared, batch, mean = numbers
    start, end, beta, sharpness = rates
    kept = np.empty(len(tokens), np.int32)
    n = keep_some(tokens, keep, state, kept)
    n_senses = senses.shape[1]
    words = np.empty(2 * window * (1 + per_pair) + shared, np.int64)
    noise, how = np.zeros(n_senses), np.empty(3)
    work = np.zeros((n_senses + 3, max(senses.shape[2], n_senses)), senses.dtype)
    how[1] = sharpness
    # the windows of a batch: their centres, how many words each has and which, and how far these and the centre move
    n_rows = len(words)
    centres, sizes = np.empty(batch, np.int64), np.empty(batch, np.int64)
    named = np.empty((batch, n_rows), np.int64)
    steps = np.empty((batch, n_senses + n_rows, senses.shape[2]), np.float32)
    own = np.empty((n_senses + n_rows if batch else 0, senses.shape[2]), np.float64)
    wide, numbered, gathered = work.astype(np.float64), np.arange(n_rows), 0
    for place in range(n):
        word = kept[place]
        if word < 0:
            continue
        m = window_of(kept, n, place, window, words)
        if m == 0:
            continue
        drawn = shared if shared else m * per_pair
        draw(negatives, state, words, m, drawn)
        _prefetch_next(senses, contexts, kept, n, place, window)
        if beta > 0.0 and n_senses > 1:
            for k in range(n_senses):
                noise[k] = beta * _gumbel(state)
        how[0] = start + (end - start) * place / n
        how[2] = m * per_pair / shared if shared else 1.0
        if not batch:
            learn_window(senses[word], mask[word], contexts, words, m, drawn, noise, how, table, work, stats)
            continue
        # in double precision: a step is a small difference of large numbers
        own[:n_senses] = senses[word]
        for j in range(m + drawn):
            own[n_senses + j] = contexts[words[j]]
        learn_window(own[:n_senses], mask[word], own[n_senses:], numbered, m, drawn, noise, how, table, wide, stats)
        centres[gathered], sizes[gathered], named[gathered] = word, m + drawn, words
        for k in range(n_senses):
            for i in range(senses.shape[2]):
                steps[gathered, k, i] = own[k, i] - senses[word, k, i]
        for j in range(m + drawn):
            for i in range(senses.shape[2]):
                steps[gathered, n_senses + j, i] = own[n_senses + j, i] - contexts[words[j], i]
        gathered += 1
        if gathered == batch:
            learn_batch(vectors, centres, sizes, named, steps, gathered, mean)
            gathered = 0
    learn_batch(vectors, centres, sizes, named, steps, gathered, mean)


@njit(**_HOW)
def learn_batch(vectors: Any, centres: Any, sizes: Any, named: Any, steps: Any, n: Any, mean: Any) -> None:
    """Move the vectors by the steps of *n* windows, summed, or by their mean over these windows."""
    senses, contexts = vectors
    n_senses, width = senses.shape[1], senses.shape[2]
    share = senses.dtype.type(1.0 / n if mean and n else 1.0)
    for window in range(n):
        centre = senses[centres[window]]
        for k in range(n_senses):
            for i in range(width):
                centre[k, i] += share * steps[window, k, i]
        for j in range(sizes[window]):
            row = contexts[named[window, j]]
            for i in range(width):
                row[i] += share * steps[window, n_senses + j, i]
