"""What a scoring policy can say, as types: the options of a study are listed with them, without loading numpy."""

from __future__ import annotations

from typing import Literal

Bos = Literal["yes", "no"]
First = Literal["scored", "unscored"]
Counted = Literal["text", "word", "continuation"]
Per = Literal["text", "token", "character", "byte"]
Conditioning = Literal["left", "masked", "masked_within_word"]
