"""Verifies the message on standard input; the DNS has one record: its name and text are the arguments."""

import sys

import dkim

name, text = sys.argv[1].encode(), sys.argv[2].encode()


def dns(asked, timeout=5):
    return text if asked.rstrip(b".") == name else None


message = sys.stdin.buffer.read()
verifier = dkim.DKIM(message)
try:
    good = verifier.verify(dnsfunc=dns)
except dkim.ValidationError:
    # A body that is another.
    good = False
signed = b":".join(verifier.include_headers).decode() if good else ""
print("good" if good else "bad", signed)
