"""Passwords and words that everybody who guesses tries first; our own list."""

from __future__ import annotations

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
"""

COMMON_WORDS = frozenset(_WORDS.split())
"""Words in lower case; digits and signs around them make no other password of them."""

ROWS = ("abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm", "azertyuiop")
"""Runs of letters and keys that are typed without thinking."""
