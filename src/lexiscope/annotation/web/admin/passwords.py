"""Passwords of researchers: the rules for new ones, and how they are hashed and checked (argon2)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from lexiscope.annotation.web.security import Refused

SHORTEST = 8
ADVISED = 15
LONGEST = 256
"""Characters. A sentence fits; a longer text would only cost time to hash."""
_AT_ONCE = 2
_MOST_WAITING = 20
_RUN = 4
_LOOKS_LIKE = str.maketrans("013457@$!", "oieastasi")


def password_fault(password: str, *, study: str, name: str) -> str:
    """Return what is wrong with a new password, as a key of the texts; empty where nothing is.

    >>> password_fault("Password2026!", study="norms", name="ana")
    'password_common'
    >>> password_fault("norms-2026", study="norms", name="ana"), password_fault("abcdabcd", study="norms", name="ana")
    ('password_names', 'password_pattern')
    >>> password_fault("three geese by noon", study="norms", name="ana")
    ''
    """
    if len(password) < SHORTEST:
        return "password_short"
    if len(password) > LONGEST:
        return "password_long"
    plain = password.casefold()
    if _is_common(plain):
        return "password_common"
    if _is_mostly_names(plain, (study.casefold(), name.casefold())):
        return "password_names"
    return "password_pattern" if _is_pattern(plain) else ""


def _is_common(plain: str) -> bool:
    core = _core(plain)
    forms = {
        plain,
        core,
        plain.translate(_LOOKS_LIKE),
        core.translate(_LOOKS_LIKE),
        _core(plain.translate(_LOOKS_LIKE)),
    }
    return not forms.isdisjoint(COMMON_WORDS)


def _core(plain: str) -> str:
    """Return the password without the digits and signs around it."""
    start, end = 0, len(plain)
    while start < end and not plain[start].isalpha():
        start += 1
    while end > start and not plain[end - 1].isalpha():
        end -= 1
    return plain[start:end]


def _is_mostly_names(plain: str, names: tuple[str, ...]) -> bool:
    """Return whether a password has fewer than four letters without the names of study and account."""
    rest = plain
    for known in sorted((name for name in names if len(name) >= 3), key=len, reverse=True):
        rest = rest.replace(known, "")
    return rest != plain and sum(letter.isalpha() for letter in rest) < _RUN


def _is_pattern(plain: str) -> bool:
    """Return whether a password repeats a short piece, or consists of runs of neighbouring keys."""
    n = len(plain)
    if any(plain == (plain[:period] * n)[:n] for period in range(1, _RUN + 1)):
        return True
    # characters in runs of four or more neighbours, forwards or backwards
    rows = [*ROWS, *(row[::-1] for row in ROWS)]
    covered = [False] * n
    for start in range(n - _RUN + 1):
        piece = plain[start : start + _RUN]
        if any(piece in row for row in rows) or len(set(piece)) == 1:
            covered[start : start + _RUN] = [True] * _RUN
    return sum(covered) >= n - 2


@dataclass(slots=True)
class Passwords:
    """Hashes and checks passwords in threads, few at once: each check costs time and memory on purpose."""

    hasher: PasswordHasher = field(default_factory=PasswordHasher)
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))
    _waiting: int = 0
    _nobody: str = ""

    async def hash(self, password: str) -> str:
        """Return the hash of a password.

        Errors: :class:`Refused` 503 where too many wait.
        """
        await self._enter()
        try:
            return await asyncio.to_thread(self.hasher.hash, password)
        finally:
            self._leave()

    async def verify(self, password: str, stored: str | None) -> bool:
        """Return whether a password fits; without an account it takes as long, and never fits.

        Errors: :class:`Refused` 503 where too many wait.
        """
        await self._enter()
        try:
            return await asyncio.to_thread(self._verify, password[: LONGEST + 1], stored)
        finally:
            self._leave()

    def _verify(self, password: str, stored: str | None) -> bool:
        if stored is None and not self._nobody:
            self._nobody = self.hasher.hash("no account's password")
        try:
            return self.hasher.verify(stored or self._nobody, password) and stored is not None
        except (VerificationError, InvalidHashError):
            return False

    async def _enter(self) -> None:
        if self._waiting >= _MOST_WAITING:
            raise Refused(503, "busy", "busy", retry_after=5)
        self._waiting += 1
        await self._slots.acquire()

    def _leave(self) -> None:
        self._waiting -= 1
        self._slots.release()


# -- passwords and words that are guessed first; our own list -------------------------------------------------------


_WORDS = """
access account adminadmin administrator admin alexander amanda america andrea andrew angel anthony apple arsenal
asdfasdf asdfghjkl ashley austin autumn baby babygirl bailey banana barcelona baseball basketball batman beautiful
berlin blahblah blink182 blessed brandon bubbles buster butterfly changeme charlie cheese chelsea chicken chocolate
classic coffee computer contrasena contraseña cookie corpus corvette cowboys crystal daniel database default diamond
dolphin dragon elephant england estudio experiment experimento facebook family fernando flower football forever
freedom freepass friend friends fuckyou gabriel gateway george ginger google guest hallo hammer hannah happiness
harley heather hello helloworld hockey hunter icecream iloveyou internet investigador jackson jennifer jessica
jesus jordan joshua justin killer kitten lakers language letmein lexiscope lingua linguist linguistics liverpool
london love lovely loveme madrid maggie manchester martin master matrix matthew maverick melissa mercedes michael
michelle midnight monday money monkey monster morgan mother mustang mynoob nicole nothing number1 october orange
parola passord passwd passwort password passphrase patrick peanut pepper phoenix please pokemon princess private
prolific psychology qazwsxedc qwerty qwertyuiop qwertz rainbow rangers research researcher robert root samantha
samsung sandra scooter school secret semantics service shadow silver soccer software spring starwars student study
summer sunday sunflower sunshine superman superuser support survey teacher tequila test testing thomas thunder
tigger trustno1 universidad universitaet university universität unknown user username vanessa victoria welcome
whatever william willkommen windows winter wizard wordmeaning yellow zaq12wsx zxcvbnm 1q2w3e4r 1q2w3e4r5t
1qaz2wsx q1w2e3r4 a1b2c3d4 abcd1234 abc12345 qwer1234 pass1234
"""  # words: ok, passwords
COMMON_WORDS = frozenset(_WORDS.split())
"""Words in lower case; digits and signs around them make no other password of them."""
ROWS = ("abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm", "azertyuiop")
"""Runs of letters and keys that are typed without thinking."""
